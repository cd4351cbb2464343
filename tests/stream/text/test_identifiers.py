"""Golden cases: what is found in a text, and what only looks like it."""

import pytest

from tests.conformance.growth import is_linear, ratio_of_times, steps
from turnsignal.stream.text.identifiers import FINDERS

FOUND = [  # kind, text with what is found between ‹ ›
    ("email", "write to ‹bob.smith+tag@example.co.uk›, please"),
    ("email", "‹müller@bücher.example.de›; <mailto:‹bob@x.io›>"),
    ("email", "https://x.example/?u=‹bob@x.io›&v=1"),
    ("email", "‹bob＠example.com›, https://x.example/?u=‹bob%40x.io›&v=1"),
    ("phone", "‹+49 171 2345678› 2024-05-01"),
    ("phone", "‹+49 (0)30 123456›, ‹+33 6 12 34 56 78›"),
    ("phone", "‹+49\u00a0171\u00a02345678›"),
    ("phone", "‹+1 (555) 123-4567› or ‹+15551234567›"),
    ("phone", "‹(555) 123-4567›, ‹555-123-4567›, ‹555.123.4567›"),
    ("phone", "‹0049 171 2345678›"),
    ("phone", "‹0171 2345678› or ‹030/12345678›"),
    ("phone", "‹06 12 34 56 78› and ‹020 7946 0958›"),
    ("phone", "(it is ‹(030) 12 34 56 78›)"),
    ("phone", "Tel.: ‹01712345678›; call me at ‹5551234567›"),
    ("card", "‹4111 1111 1111 1111›, ‹4111-1111-1111-1111›"),
    ("card", "‹4111.1111.1111.1111›"),
    ("card", "‹5555555555554444› or ‹378282246310005›"),
    ("card", "2024 ‹4111 1111 1111 1111› 12/27"),
    ("card", "‹4111–1111–1111–1111›, ‹4111  1111  1111  1111›"),
    ("card", "‹4111 1111\n1111 1111›, ‹4111-1111-1111\r\n1111›"),
    ("iban", "‹DE89 3704 0044 0532 0130 00›"),
    ("iban", "‹DE89370400440532013000› BIC COBADEFF"),
    ("iban", "‹GB29 NWBK 6016 1331 9268 19› and ‹at611904300234573201›"),
    ("secret", "‹sk-proj-abcdefghij0123456789ABCD›"),
    ("secret", "key=‹AKIAIOSFODNN7EXAMPLE›"),
    ("secret", "‹ghp_16C7e42F292c6912E7710c838347Ae178B4a›"),
    ("secret", "Authorization: Bearer ‹abc.def-123456789012›"),
    ("secret", "Authorization: Bearer ‹12345678-9012-3456-7890›"),
    ("secret", "‹eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U›"),
    ("secret", "‹hf_aBcDeFgHiJ0123456789aBcDeFgHiJ01›"),
    ("secret", "‹gsk_aBcDeFgHiJ0123456789aBcDeFgHiJ01›, ‹xai-aBcDeFgHiJ0123456789aBcDeFgHiJ01›"),
    ("secret", "‹r8_aBcDeFgHiJ0123456789aBcDeFgHiJ01›, ‹SG.aBcDeFgHiJ012345.aBcDeFgHiJ012345›"),
    ("secret", f"‹dop_v1_{'0a' * 32}›"),
    ("secret", "password: ‹hunter2secret›, api_key=‹abcd1234efgh5678›"),
    ("secret", '{"client_secret": "‹a1-b2-c3-d4›"}; AccountName=x;AccountKey=‹aBcD1234/+aBcD1234==›;'),
    ("secret", "DB_PASSWORD=‹hunter2secret›, AWS_SECRET_ACCESS_KEY=‹wJalrXUtnFEMI/K7MDENG›, token: ‹abcd1234efgh›"),
    ("secret", 'PGPASSWORD=‹hunter2hunter2›, DB_PASS=‹hunter2hunter2›, dbPassword := "‹hunter2hunter2›"'),
    ("secret", "--password ‹hunter2hunter2›, <password>‹hunter2hunter2›, 'password' => '‹hunter2hunter2›'"),
    ("secret", 'ENCRYPTION_KEY=‹abcd1234efgh5678›, "accessToken":"‹abcd1234efgh5678›"'),
    ("secret", "my password is ‹hunter2secret›; das Passwort lautet ‹geheim123456›"),
    ("secret", "Authorization: Basic ‹dXNlcjpwYXNzd29yZDEyMw==›"),
    ("secret", "Cookie: ‹sid=s3cr3t1234; theme=dark›\nSet-Cookie: ‹id=a3fWa1; Path=/; HttpOnly›\nHost: x"),
    ("secret", """curl -H 'Cookie: ‹sid=s3cr3t1234›' and {"cookie": "‹sid=s3cr3t1234›"}"""),
    ("secret", "https://bob:‹secret›@host/x and redis://:‹p4ss›@cache:6379"),
    ("secret", "‹whsec_aBcDeFgHiJ0123456789›, ‹ya29.a0AfH6SMBabcdefghijkl›, ‹key-0123456789abcdef0123456789abcdef›"),
    ("secret", "‹-----BEGIN RSA PRIVATE KEY-----\nMIIEow9=\n-----END RSA PRIVATE KEY-----›"),
]

NOTHING = [
    "order 4015123456, order number 555-123-4567, Rechnung Nr. 0171-2345678, #0171 2345678",
    "order 00012345678901 and 200 OK 404 500",
    "2024-05-01 12:30:45, 20240501123045, 2024-05-01T12:30:45.123+02:00, 01.02.2024 12:30, 05-01-2024 10:00",
    "call at 2024-05-01 12:30; GMT +1 2024-05-01 12:30",
    "1716382939, 1716382939123, 1716382939123456",
    "1.2.3, v10.15.7, 3.11.9-rc1, foo@1.2.3, @mention, user@host",
    "192.168.100.200:8080, 010.020.030.040",
    "ISBN 978-3-16-148410-0, pages 100-200, 2019-2021",
    "1.234.567,89 and $1,234,567.89 and 10 000 000",
    "550e8400-e29b-41d4-a716-446655440000, 123-45-6789, 12345-6789",
    "3.141592653589793, 0.123456789012345, x+12345678",
    "4111111111111112",  # Luhn says no
    "4111\n1111\n1111\n1111",  # a column
    "A cookie: 2 eggs, 100 g of sugar; cookie: settings=off and cookies=2; Cookie: a small file",
    "DE89 3704 0044 0532 0130 01, DE99",  # 97 says no
    "git@github.com:org/repo.git",
    "sk-learn-compatible-estimators-here, task-force-in-the-making-of-things",
    "[1][2][3] [1, 2, 3] [doc_4915112345678] [1-3]",
    "https://shop.example/p/555-123-4567 https://x.example/4111111111111111/a",
    "Password: at least 8 characters; password=correcthorse, passwords: 12345678, API key: 20240501123045",
    'api_key=os.environ["KEY_1"], password = None, api key (v2) is the access key 2024, pwd: /home/ann/docs',
    "1.234.567.890.123.452, 371.449.635.398.431, 4.111.111.111.111.111",
    "50%40 off, npm i lodash%404.17.21, price@＠, 7＠8.9",
    "xai-powered-assistants-with-many-features, SG.assistants.which-are-cheap, r8_and_some, dop_v1_token",
    "200.300.4000, 300-400-5000 MHz, 001 002 003 004, +100000000 points, +1234567890 rows",
    "Authorization: Basic authentication is used; the token is version2.1; the token is required; see https://x.example/a:b@c",
    "Bearer of good news about everything, eyJust.a.word",
]


def found(text: str) -> dict[str, list[str]]:
    data = text.encode()
    spans = {kind: [data[slice(*span)].decode() for span in find(data)] for kind, find in FINDERS.items()}
    return {kind: values for kind, values in spans.items() if values}


@pytest.mark.parametrize(("kind", "marked"), FOUND)
def test_what_identifies_somebody_is_found(kind: str, marked: str) -> None:
    wanted = [part.partition("›")[0] for part in marked.split("‹")[1:]]
    assert found(marked.replace("‹", "").replace("›", "")).get(kind) == wanted


@pytest.mark.parametrize("text", NOTHING)
def test_what_only_looks_like_it_is_left_alone(text: str) -> None:
    assert found(text) == {}


UNITS = ["1", "1 ", "411 ", "a@b.cc ", "a@", "+1 ", "DE89 ", "eyJaaaaaaaa.aaaaaaaa ", "+49 171 2345678 ", "call me "]
UNITS += ["password: a1 ", "api_key=", "SG.a1234567890123456.", "4111.", "a%40", "gsk_1"]
UNITS += ["4111\n", "cookie: ", "cookie: a=1", "; a=1"]
UNITS += ["a://b:c", "_token=", "://", "4111  ", "is "]
UNITS += [
    "030 12 ",
    "4111 1111 1111 1111 ",
    "sk-",
    "-----BEGIN PRIVATE KEY-----",
    "(",
    "é@é.éé ",
]


@pytest.mark.parametrize("text", ["a\u212ab1234567890123456", "a\u212a\u212a12" + "3" * 20])
def test_a_letter_that_only_folds_to_an_ascii_one_begins_no_iban(text: str) -> None:
    assert list(FINDERS["iban"](text.encode())) == []  # RE2 takes the sign of Kelvin for a k, whatever its bytes


@pytest.mark.parametrize("unit", UNITS)
def test_finding_takes_linear_time_on_the_most_hostile_texts(unit: str) -> None:
    assert is_linear(lambda size: steps(lambda: look(unit, size)))


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_finding_takes_no_more_than_in_proportion_longer_where_python_does_not_see_it(unit: str) -> None:
    assert ratio_of_times(lambda size: lambda: look(unit, size)) < 10


def look(unit: str, size: int) -> object:
    data = (unit * size)[:size].encode()
    return [list(find(data)) for find in FINDERS.values()]
