"""Directions: the figures of a comparison by name, which way each is better, and which ways less evidence shows.

What is no measure or check, and so has its direction from nowhere else, is here; `stream.statistics.claims` decides.
"""

from turnsignal.stream.records.scores import CITED, CLARIFICATION_FREE, DANGLING, FOLLOW_UP, FOLLOW_UP_PRECISION

OUTCOMES = ("resolved", "clarified", "abandoned", "silent", "unanswered")
#: share of conversations that end in either, of which nobody says how they went
UNHEARD = "silent_or_unanswered"
CHECKS_APPLIED, ANSWER_SECONDS = "checks_applied", "answer_seconds"
DOCUMENTS, WITH_DOCUMENTS = "documents", "answers_with_documents"  #: how many, of answers with any; share of those
CITES_ALL = "cites_all_documents"  #: of answers with two documents or more: share that cites every one of them
CITES_TOP = "cites_from_top"  #: of the same that cite any: share whose citations are just the first ones, 1 to k
CITATIONS = "citations_per_answer"  #: how many of its documents an answer cites, of answers that cite any
IN_PARTS = "answers_in_parts"  #: share of answers that come in several turns, all with documents or all without
QUESTIONS = "questions_per_conversation"  #: that are answered, small talk left out
FOLLOWED = "answers_followed"  #: share of answers to questions behind which their user wrote again
COMPLAINED = "answers_clarified"  #: share of answers to questions behind which their user asked to clarify
COMPLAINED_OF = "answers_given_clarified"  #: the same, of answers that answer: they neither fail nor only ask back
#: the same as of all answers to questions, had none of them asked for something in its last sentence beside what it
#: answers: behind that, "no" or "the other one" may reply to it
COMPLAINED_UNASKED = "answers_clarified_unasked"
#: share of answers to questions that ask for something beside what they answer, and get a message that may reply to it
REPLIED = "answers_replied_to"
REFORMATTED = "answers_reformatted"  #: share of answers to questions behind which their user asked for another form
PERSON = "answers_before_a_person"  #: share of answers to questions behind which their user asked for a person
THANKED = "answers_thanked"  #: share of answers to questions behind which their user thanked
BEFORE_ASKED = "answers_before_questions"  #: share of answers that come out of documents before any question
LOGGED_AGAIN = "logged_again"  #: share of answers to a question that the log holds twice, though nobody wrote it twice
ELSEWHERE = "documents_elsewhere"  #: share of answers without documents, behind a turn of another role that has some
ROUNDED = "stamped_roughly"  #: share of answers whose times are whole minutes, or just those of their questions
ASKED_TWICE = "asked_in_a_row"  #: share of answers to several messages of a user, with no answer between them
MASKED = "masked_markers"  #: share of answers in which a part of a citation's marker was masked
LISTED = "sources_listed"  #: share of answers out of documents that end with a list of sources, which cites nothing
#: share of answers out of documents that cite none, and name one where no citation is read: "(Source: doc_4)"
NAMED = "documents_named"
SORTED = "documents_sorted"  #: share of answers out of three documents or more that stand in the order of their ids
LOWERED = "lower_case"  #: share of answers out of documents without a capital letter: a log lowers texts, and no ids
CITES_LAST = "cites_last"  #: of answers that cite some of three documents or more: share that cites just the last ones
CITES_EARLIER = "cites_earlier"  #: of answers with documents: share that cites those of earlier answers alone
RECALLED = "begun_with_recall"  #: share of conversations whose first message says what was answered another time
#: share of conversations whose first message reads as a complaint, though no answer stands before it
BEGUN_COMPLAINING = "begun_with_complaint"
RESUMED = "resumed"  #: share of answers to a question that came when their conversation had been idle
INVITES = "invites_correction"  #: share of answers that ask last whether they helped, or to be told what is wrong
BEGUN_BEHIND = "begun_with_thanks"  #: share of conversations whose first message that is answered is a thanks or leave
HIDDEN = "texts_hidden"  #: share of answers beside a message that is empty, masked, or the same as before
REFUSED = "refused"  #: share of answers that fail and decline, where others are empty, errors or hand-offs
HANDED_ON = "handed_on"  #: share of answers out of no documents to who was put through to a person before
EXEMPTED = "exempted"  #: share of answers that the suite exempts, where it exempts any
#: what is written down otherwise, and no matter of the release
OF_THE_RECORD = (
    FOLLOWED,
    COMPLAINED,
    COMPLAINED_OF,
    COMPLAINED_UNASKED,
    REPLIED,
    REFORMATTED,
    PERSON,
    THANKED,
    BEFORE_ASKED,
    BEGUN_BEHIND,
    LOGGED_AGAIN,
    ELSEWHERE,
    ROUNDED,
    ASKED_TWICE,
    MASKED,
    LISTED,
    NAMED,
    LOWERED,
    SORTED,
    RESUMED,
    RECALLED,
    BEGUN_COMPLAINING,
    INVITES,
    CITES_EARLIER,
    CITES_LAST,
    HIDDEN,
    REFUSED,
    EXEMPTED,
    HANDED_ON,
)
WASTED, VOTE = "wasted_context", "vote"  #: of votes: the share of thumbs up among raters, on average over answers
RANKS = "ranks"  #: where documents that are cited stood, by the first ranking of the suite
SAME_LANGUAGE = (
    "same_language"  #: share of answers in the language of the message that they answer, where both are told
)
#: share of conversations whose last message got no answer, be it one that fails; of two systems: of cases without any
NO_ANSWER = "no_answer"
FAILED = "failed"  #: of an answer: 1 when it is empty, an error or a refusal
LEFTOVERS = "answers_with_leftovers"  #: share of answers that show tags or tokens of a model, or a template's variables
ASKS_BACK = "asks_back"  #: share of answers that only ask something back, before they answer
ASKS_AGAIN = "asks_back_again"  #: share of answers that ask the same in the same words as before their user's reply
ONLY_ASKS = "only_asks_back"  #: share of conversations in which all answers only ask something back, so that none came
#: share of conversations whose first answer has less than half the characters of the release before's middle one
SHORT_FIRST = "short_first_answers"
SAME_FIRST = "same_first_answers"  #: share of them whose text many others get, too, whatever its words are
#: share that a few documents, those which became most common, have of all that conversations get first
SAME_DOCUMENTS = "same_documents"
#: share of an assistant's conversations that got no answer and cannot be told apart by release
UNANSWERED_OF_ALL = "unanswered(of=assistant)"
FREE_CONVERSATIONS = "clarification_free(per=conversation)"  #: share of conversations without any, Hoffer's success
#: what a comparison may be about, beside measures and checks; the first where the suite names none
PRIMARIES = (
    CLARIFICATION_FREE,
    FOLLOW_UP,
    FOLLOW_UP_PRECISION,
    "compliance",
    CITED,
    FREE_CONVERSATIONS,
    *OUTCOMES,
)

BETTER, WORSE, CHANGED = "better", "worse", "changed"
SAME, SMALL = "no difference shown", "too small to name"

HIGH, LOW = (BETTER, WORSE), (WORSE, BETTER)  #: what a rise and a fall are called, by what is better
NEITHER = (CHANGED, CHANGED)
#: Directions of the figures that are not the better the higher they are.
DIRECTIONS = {
    "clarified": NEITHER,  # from resolved it is worse, from abandoned better, and those say so
    "abandoned": LOW,
    "silent": (WORSE, CHANGED),  # fewer may also be more who complain
    "unanswered": LOW,
    UNANSWERED_OF_ALL: LOW,
    NO_ANSWER: LOW,
    FAILED: LOW,
    LEFTOVERS: LOW,
    "uncited": (WORSE, CHANGED),
    CITED: (CHANGED, WORSE),  # more may also be more that do not belong there
    DANGLING: LOW,
    WASTED: LOW,
    CITES_ALL: NEITHER,
    DOCUMENTS: NEITHER,
    CITATIONS: NEITHER,
    IN_PARTS: NEITHER,
    ASKS_BACK: NEITHER,
    ASKS_AGAIN: (WORSE, CHANGED),
    ONLY_ASKS: (WORSE, CHANGED),  # where they ask less, users say what they think of the answers
    WITH_DOCUMENTS: (CHANGED, WORSE),  # fewer answers to thanks have none, too
    SHORT_FIRST: NEITHER,
    SAME_FIRST: NEITHER,
    SAME_DOCUMENTS: NEITHER,
    CHECKS_APPLIED: NEITHER,
    ANSWER_SECONDS: (WORSE, CHANGED),  # errors are fast
    "coverage": NEITHER,
}
#: Smallest differences worth naming whatever the suite says: a quarter more, on the scales of `stream.reports.scales`.
LEAST = {
    ANSWER_SECONDS: 0.02,
    DOCUMENTS: 0.032,
    CITATIONS: 0.032,
    QUESTIONS: 0.032,
    THANKED: 0.03,
    REFORMATTED: 0.03,
    PERSON: 0.03,
    REPLIED: 0.03,
    BEFORE_ASKED: 0.1,
    BEGUN_BEHIND: 0.02,
    SORTED: 0.2,
    RESUMED: 0.05,
    RECALLED: 0.03,
    BEGUN_COMPLAINING: 0.03,
    INVITES: 0.1,
    EXEMPTED: 0.02,
    HANDED_ON: 0.02,
    CITES_EARLIER: 0.05,
    CITES_LAST: 0.2,
    LOGGED_AGAIN: 0.05,
    ELSEWHERE: 0.1,
    ROUNDED: 0.1,
    ASKED_TWICE: 0.03,
    MASKED: 0.1,
    LISTED: 0.1,
    NAMED: 0.1,
    LOWERED: 0.2,
    CITES_ALL: 0.03,
    IN_PARTS: 0.03,
    ASKS_BACK: 0.03,
    ASKS_AGAIN: 0.05,  # who mistypes a number is asked for it again
    ONLY_ASKS: 0.2,  # some users leave at any question
    SHORT_FIRST: 0.03,
    SAME_FIRST: 0.03,
    CITES_TOP: 0.03,
    SAME_DOCUMENTS: 0.2,  # a topic of the day makes some documents common, too
}

RISE, FALL = 1, -1
#: Figures by which evidence becomes less, and how: where one of them moves so, nothing is called better.
GUARDS = {
    "silent": RISE,
    "unanswered": RISE,
    UNANSWERED_OF_ALL: RISE,
    NO_ANSWER: RISE,
    FAILED: RISE,
    LEFTOVERS: RISE,
    ASKS_AGAIN: RISE,
    ONLY_ASKS: RISE,
    "uncited": RISE,
    DANGLING: RISE,
    CITED: FALL,
    SAME_LANGUAGE: FALL,
    "citation.resolves": FALL,
    CHECKS_APPLIED: FALL,
    "coverage": FALL,
    WITH_DOCUMENTS: FALL,
    VOTE: FALL,
    SHORT_FIRST: RISE,
    SAME_FIRST: RISE,
    SAME_DOCUMENTS: RISE,
}
#: Figures by which users say that it went worse: where one of them moves so, no ranking is called better.
WENT_WORSE = {
    CLARIFICATION_FREE: FALL,
    FREE_CONVERSATIONS: FALL,
    FOLLOW_UP: FALL,
    FOLLOW_UP_PRECISION: FALL,
    "conversation": FALL,
    "resolved": FALL,
    "abandoned": RISE,
}
#: Figures by which users say how it went, in words and by silence, and how they move where it went worse.
BY_USERS = {**WENT_WORSE, "silent": RISE}
#: Figures of what follows an answer, which complaints are a share of
OF_FOLLOW_UPS = (CLARIFICATION_FREE, FOLLOW_UP, FOLLOW_UP_PRECISION)
#: Figures of whole conversations, which depend on what follows their answers
BY_CONVERSATION = (
    "silent",
    "resolved",
    "unanswered",
    "conversation",
    FREE_CONVERSATIONS,
    "abandoned",
    UNANSWERED_OF_ALL,
)
#: Figures that say whether users were helped, a family of their own (`stream.statistics.promise`).
WHETHER_HELPED = {*BY_USERS, "unanswered", NO_ANSWER, FAILED, ONLY_ASKS}


def coverage_name(scorer: str) -> str:
    """Name the share of answers that a scorer could score."""
    return f"coverage({scorer})"


def family(name: str) -> str:
    """Return what a figure's direction stands under: all coverages are alike."""
    return "coverage" if name.startswith("coverage(") else name
