"""The language of a text is told by its letters and frequent words, or not at all."""

import pytest

from turnsignal.stream.text.spoken_languages import are_close, glance, language_name, names_language, read

TEXTS = {
    "en": "You can change that in the settings of your account.",
    "de": "Das können Sie in den Einstellungen Ihres Kontos ändern.",
    "cs": "To můžete změnit v nastavení svého účtu, který jste otevřeli.",
    "hu": "Ezt a fiók beállításaiban lehet megváltoztatni, ha már be van jelentkezve.",
    "ro": "Puteți schimba aceasta din setările contului, dacă este deschis.",
    "fi": "Voit muuttaa sen tilisi asetuksista, jos olet kirjautunut sisään.",
    "no": "Du kan endre det i innstillingene etter at du har åpnet kontoen din.",
    "uk": "Це можна змінити в налаштуваннях вашого облікового запису, який ви відкрили.",
    "fa": "شما می توانید این را در تنظیمات حساب خود تغییر دهید اگر باز است.",
    "el": "Μπορείτε να το αλλάξετε στις ρυθμίσεις του λογαριασμού σας.",
    "he": "אפשר לשנות את זה בהגדרות של החשבון שלך.",
    "th": "คุณสามารถเปลี่ยนได้ในการตั้งค่าบัญชีของคุณ",
    "zh": "您可以在账户的设置里更改。",
    "ja": "アカウントの設定で変更できます。",
    "ko": "계정 설정에서 변경할 수 있습니다.",
}


@pytest.mark.parametrize("code", TEXTS)
def test_a_sentence_tells_its_language(code: str) -> None:
    assert glance(TEXTS[code]) == read(TEXTS[code]).code == code
    assert language_name(code) != code


@pytest.mark.parametrize(
    "text", ["", "Ok", "404", "東京都庁", "Settings > Security", "😀", "Lorem ipsum dolor sit amet"]
)
def test_what_may_be_of_any_language_is_not_told(text: str) -> None:
    assert glance(text) == ""


def test_code_addresses_and_quotations_say_nothing_of_who_wrote_them() -> None:
    quoted = f"{TEXTS['de']} „{TEXTS['en'] * 3}“ `where is the one that you are` https://a.example/the-and-you-are"
    assert read(quoted).code == "de"
    assert read(f"{TEXTS['de']}\nfor one in the_list: this = that if you and they are == with").code == "de"


def test_a_letter_with_a_number_is_a_document_and_no_english() -> None:
    german = read("Teilen Sie die Prüfungen nach ihrer Dauer auf vier Rechner auf [d1] [d2] (m3).")
    assert (german.code, german.weight("en") < 0.3) == ("de", True)
    assert read("I'd do it [1]").weight("en") > read("I do it [d1]").weight("en")


def test_languages_and_translations_are_named_in_many_languages() -> None:
    for text in (
        "in Spanish, please",
        "auf Deutsch bitte",
        "tradúcelo",
        "翻译一下",
        "переведи это",
        "in het Nederlands",
    ):
        assert names_language(text), text
    assert not names_language("How do I reset my password?")


def test_close_languages_are_close_both_ways() -> None:
    assert are_close("no", "sv")
    assert are_close("sv", "no")
    assert not are_close("es", "pt")
