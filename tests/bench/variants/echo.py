"""The floor of latency: an aiokafka consumer that sends back the beginning of what it got, and does nothing else.

BENCH_TRANSACTIONS=on sends what came together, and the positions, in one transaction, acknowledged by all replicas as
ours are; without it nobody waits for anything.
"""

import asyncio
import os

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord
from place import Place

place = Place.from_env()
WAIT = 200  #: milliseconds for the first record; it is handed on at once


async def echo(producer: AIOKafkaProducer, record: ConsumerRecord) -> None:
    """Send back the beginning of a record."""
    await producer.send(place.topics["scores"], record.value[:120], key=record.key)


async def main(*, transactions: bool) -> None:
    """Echo until killed."""
    consumer = AIOKafkaConsumer(
        place.topics["turns"],
        bootstrap_servers=place.brokers,
        group_id=place.name,
        auto_offset_reset="earliest",
        enable_auto_commit=not transactions,
    )
    options = {"transactional_id": place.name, "acks": "all"} if transactions else {}
    producer = AIOKafkaProducer(bootstrap_servers=place.brokers, **options)
    await consumer.start()
    await producer.start()
    if not transactions:
        async for record in consumer:
            await echo(producer, record)
    while True:
        batches = await consumer.getmany(timeout_ms=WAIT)
        if batches:
            async with producer.transaction():
                for record in (record for records in batches.values() for record in records):
                    await echo(producer, record)
                ends = {partition: records[-1].offset + 1 for partition, records in batches.items()}
                await producer.send_offsets_to_transaction(ends, place.name)


asyncio.run(main(transactions=os.environ.get("BENCH_TRANSACTIONS") == "on"))
