"""What a log holds twice: records that came again, ids that name several, and traces beside their roots."""

from collections import Counter
from typing import Any

from turnsignal.stream.formats.assembly import join_trace
from turnsignal.stream.formats.doubles import each_once, once_a_trace
from turnsignal.stream.formats.protocol import Call, Message


def whole(origin: str, asked: str, answered: str, start: float | None, end: float | None, **more: Any) -> Call:
    inputs, outputs = [Message("user", asked)], [Message("assistant", answered)]
    return Call(origin, kind="whole", trace="t1", start=start, end=end, inputs=inputs, outputs=outputs, **more)


def origins(*calls: Call) -> list[str]:
    return [call.origin for call in join_trace(calls, Counter())]


def test_a_trace_and_its_root_that_say_the_same_are_one_answer_whichever_comes_first() -> None:
    for reach in (100.0, 102.0, 130.0):  # a trace alone has no end; one with observations ends with the last of them
        for turned in (False, True):
            trace = whole("x:t1", "How?", "So.", 100.0, reach, conversation="c1", fields={"version": "v1"})
            root = whole("x:t1/o1", "How?", "So.", 100.001, 102.0, documents=[{"doc_id": "d1"}])
            (answer,) = join_trace([root, trace] if turned else [trace, root], Counter())
            assert (answer.origin, answer.conversation, answer.fields) == ("x:t1", "c1", {"version": "v1"})
            assert (answer.end, answer.documents) == (102.0, [{"doc_id": "d1"}])


def test_a_trace_beside_two_roots_repeats_one_of_them() -> None:
    first, second = whole("x:t1/o1", "a", "A", 100.0, 102.0), whole("x:t1/o2", "b", "B", 110.0, 112.0)
    trace = whole("x:t1", "b", "B", 100.0, 112.0)
    assert origins(trace, first, second) == ["x:t1/o1", "x:t1"]


def test_what_is_said_again_later_in_a_trace_was_said_twice() -> None:
    first, again = (
        whole("x:o1", "thanks", "You are welcome.", 1.0, 2.0),
        whole("x:o2", "thanks", "You are welcome.", 9.0, 9.5),
    )
    assert origins(first, again) == ["x:o1", "x:o2"]
    trace = whole("x:0", "thanks", "You are welcome.", 1.0, 9.5)
    assert len(once_a_trace([trace, first, again], Counter())) == 2


def test_wholes_that_say_other_things_stay() -> None:
    assert origins(whole("x:1", "a", "A", 1.0, 2.0), whole("x:2", "a", "other", 1.0, 2.0)) == ["x:1", "x:2"]


def test_responses_of_one_id_are_one_where_they_say_the_same_and_each_counts_where_they_do_not() -> None:
    def response(answered: str, *asked: str) -> Call:
        inputs = [Message("user", text) for text in asked]
        return Call("x:r1", response="r1", inputs=inputs, outputs=[Message("assistant", answered)])

    assert [call.inputs for call in each_once([response("A", "a"), response("A")], Counter())] == [
        [Message("user", "a")]
    ]
    begun = Call("x:r1", response="r1", inputs=[Message("user", "a")])
    assert len(join_trace([begun, response("A", "a")], Counter())) == 1
    answers = join_trace([response("A", "a"), response("B", "b")], Counter())
    assert sorted(answer.outputs[0].text for answer in answers) == ["A", "B"]


def test_records_without_an_id_of_their_own_are_not_taken_for_one_that_came_again() -> None:
    root = whole("x:t1/", "How?", "So.", 100.0, 102.0)
    search = Call("x:t1/", kind="retrieval", trace="t1", start=100.5, end=101.0, documents=[{"doc_id": "d1"}])
    notes: Counter[str] = Counter()
    (answer,) = join_trace([root, search], notes)
    assert (answer.documents, notes["records that came twice left out"]) == ([{"doc_id": "d1"}], 0)
