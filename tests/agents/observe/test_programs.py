import pytest

from turnsignal.agents.observe.programs import engine_answers, find_programs, install_line


@pytest.mark.parametrize(
    ("installed", "found"),
    [
        ([], {}),
        (["prometheus"], {"prometheus": "prometheus"}),
        (["prometheus-alertmanager"], {"alertmanager": "prometheus-alertmanager"}),
        (["alertmanager", "grafana-server"], {"alertmanager": "alertmanager", "grafana": "grafana-server"}),
        (["grafana", "grafana-server"], {"grafana": "grafana"}),
    ],
)
def test_programs_are_found_by_the_names_that_systems_give_them(installed: list[str], found: dict[str, str]) -> None:
    assert find_programs(lambda name: name if name in installed else None) == found


@pytest.mark.parametrize(
    ("manager", "words"),
    [
        ("apt-get", "apt-get install prometheus prometheus-alertmanager"),
        ("brew", "brew install"),
        ("", "prometheus.io"),
    ],
)
def test_what_to_install_is_said_in_the_words_of_the_system(manager: str, words: str) -> None:
    assert words in install_line(lambda name: name if name == manager else None)


def test_no_docker_is_no_engine() -> None:
    assert not engine_answers(lambda _: None)
    assert not engine_answers(lambda _: "/no/such/docker")
