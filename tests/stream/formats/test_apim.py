"""Rows of Azure API Management's log, as the portal's CSV has them."""

from collections import Counter

import pytest

from turnsignal.stream.formats.apim import ApiManagement


@pytest.mark.parametrize("time", ["6/3/2025, 9:21:39.249 AM", "2025-06-03T09:21:39.249Z"])
def test_rows_of_one_call_are_in_the_order_of_their_numbers_however_times_are_written(time: str) -> None:
    rows = [
        {
            "TimeGenerated [UTC]": time,
            "CorrelationId": "7",
            "SequenceNumber": str(number),
            "RequestMessages": f'[{{"role": "user", "content": "Part {number}."}}]',
            "ResponseMessages": "",
        }
        for number in (1, 0)
    ]
    calls = [call for row in rows for call in ApiManagement().read(row, Counter())]
    starts = [call.start for call in calls]
    assert starts[0] is not None
    assert starts[1] is not None
    assert starts[0] > starts[1]
    assert abs(starts[1] - 1_748_942_499.249) < 0.001
