"""What flows through turnsignal and what is true of it: nouns, pure, no Kafka and no clock.

    turns –score→ scores, conversations, exchanges, series
    exchanges –judge→ verdicts –score→ scores
    series –watch→ regressions

Read from the bottom up: `turns` and `scores` are the records; `citations`, `measures`, `checks`, `follow_ups`
and `diagnosis` say what one exchange is worth; `pairing` and `conversations` hold what a conversation remembers;
`pipeline` puts them together for one partition; `replay` feeds it recorded files. What agents/ does on Kafka is
the same `pipeline` with another source.
"""
