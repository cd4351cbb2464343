"""Errors that bid their user try again, as tú, usted and vos, tu and você, tu and Lei are bidden."""

import pytest

from turnsignal.stream.follow_ups.failures import Failures, asks_back

ERRORS = """\
Se produjo un error inesperado. Volvé a intentarlo en unos minutos.
Hubo un problema de conexión. Esperá unos segundos y volvé a probar.
Ups, no funcionó. Reintentá en un ratito.
Uy, algo no anduvo. Probá otra vez.
Un momento, dejame ver.
Dejame consultar y te aviso.
Repetí la pregunta, por favor.
No pude cargar tus datos. Aguardá un momento y probá de nuevo.
Ocurrió un error. Espera unos minutos y prueba otra vez.
Probá de nuevo más tarde.
Para eso comunicate con atención al cliente.
No lo sé, disculpá.
Ocorreu um erro. Tenta de novo mais tarde.
Ocorreu um erro. Tente outra vez daqui a pouco.
Deu ruim aqui, não funcionou. Tenta mais tarde.
Erro interno. Tentar outra vez.
Si è verificato un errore. Prova di nuovo più tardi.
Une erreur est survenue. Essaie à nouveau dans quelques minutes.
Hiciste demasiadas solicitudes. Esperá un minuto.
Vous avez fait trop de demandes. Attendez quelques minutes.
Sie haben zu viele Anfragen gestellt. Warten Sie eine Minute."""

DOWN = """\
El sistema de reservas está caído, probá más tarde.
El sistema en este momento no está disponible.
Se cayó el sistema. Volvé a intentar luego.
O sistema no momento não está disponível.
O sistema caiu. Tente de novo daqui a pouco.
Il sistema di prenotazione al momento non è disponibile.
Al momento il servizio non funziona. Provi più tardi.
Le système de réservation est en panne, réessayez plus tard.
The reservation system is offline right now, so I can't check that.
Our ticketing system is down at the moment, please try later.
Das Buchungssystem ist gerade nicht erreichbar.
Derzeit ist das System nicht verfügbar.
Het boekingssysteem is op dit moment niet beschikbaar.
Op dit moment is het systeem niet beschikbaar."""

ANSWERS = """\
Probá la clave que te mandamos por mail y entrá de nuevo desde la app.
Esperá la factura: llega entre el 5 y el 10 de cada mes.
El corte afecta tu zona hasta las 18 h. Esperá a que vuelva la luz y después prendé la térmica.
Si tenés dudas, no puedo ayudarte por acá: pasá por la oficina.
Si el sistema está caído, cargá la lectura por teléfono al 0800.
Tenta o código 4521 e depois fecha a alavanca.
O estorno não deu certo porque o cartão venceu; cadastre outro em Carteira.
O sistema de freio não está disponível no modelo básico.
Al momento la piscina non è disponibile, riapre il 3 maggio.
The heating system is down on floor 3 until Friday.
The booking system is down at the moment, but you can book by phone at 555 12.
Das Buchungssystem ist auf Deutsch und Englisch verfügbar."""

REQUESTS = """\
Decime tu número de medidor, por favor.
Dale, pasame el número de reserva.
Contame tu nombre completo.
Podés indicarme tu número de cliente.
Escribí tu DNI acá.
Elegí una opción: 1) Luz 2) Gas
Cuéntame tu número de pedido.
Diz-me o teu número de cliente."""


@pytest.mark.parametrize("answer", [*ERRORS.splitlines(), *DOWN.splitlines()])
def test_an_error_is_no_answer_however_its_user_is_bidden_to_try_again(answer: str) -> None:
    assert Failures().is_failing(answer)


@pytest.mark.parametrize("answer", ANSWERS.splitlines())
def test_a_step_of_an_answer_is_no_error(answer: str) -> None:
    assert not Failures().is_failing(answer)


@pytest.mark.parametrize("answer", REQUESTS.splitlines())
def test_a_detail_that_is_asked_for_in_the_form_of_vos_or_tu_asks_back(answer: str) -> None:
    assert asks_back(answer)


def test_what_is_to_be_written_elsewhere_asks_nothing_back() -> None:
    assert not asks_back("Escribí tu nombre en la etiqueta y pegala en la caja.")
