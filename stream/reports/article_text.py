"""What is said of cited articles and of those that overlap, on the terminal and on the page."""

from collections.abc import Mapping
from typing import Any

from turnsignal.stream.reports.article_overlap import ALIKE
from turnsignal.stream.text.counts import count_of


def describe_blame(articles: Mapping[str, Any]) -> str:
    """Say why answers are not right; articles: as `ArticleReport.as_json` gives them."""
    blame = articles["blame"]
    return (
        f"Not right: {blame['retriever']:,} were given no right article; of the others, the picker chose a wrong one in"
        f" {blame['picker']:,}, {blame['no_citation']:,} cite none and {blame['several_citations']:,} several"
    )


def describe_several(articles: Mapping[str, Any]) -> str:
    """Say of answers that cite several articles how many of them are labelled."""
    several = articles["several"]
    return (
        f"Of the {sum(several.values()):,} that cite several, a class of its own, {several['only_labelled']:,} cite"
        f" labelled articles only, {several['some_labelled']:,} others beside, {several['none_labelled']:,} none"
    )


def describe_overlap(overlap: Mapping[str, Any]) -> str:
    """Say how many articles and questions were compared, and whether any overlap."""
    compared = [f"the texts of {count_of(overlap['articles'], 'article')}"] if "reason" not in overlap else []
    if overlap["questions"]:
        compared.append(f"what {count_of(overlap['questions'], 'opening question')} led to")
    named = overlap["alike"] or overlap["in_turn"]
    opening = "Articles that overlap" if named else "No articles overlap"
    more = (
        f"; {count_of(overlap['not_compared'], 'article')} that came later left out" if overlap["not_compared"] else ""
    )
    return f"{opening}, by {' and '.join(compared) or 'nothing'}{more}"


def describe_pair(pair: Mapping[str, Any]) -> str:
    """Say why two articles overlap."""
    if "cosine" in pair:
        return f"nearly the same words (likeness {pair['cosine']:.2f}, named from {ALIKE:g})"
    return f"cited in turn for {count_of(pair['questions'], 'question')}"
