"""The floor of latency: a raw aiokafka consumer that sends back the beginning of what it got."""

import asyncio

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from place import Place

place = Place.from_env()


async def main() -> None:
    """Echo until killed."""
    consumer = AIOKafkaConsumer(
        place.topics["turns"], bootstrap_servers=place.brokers, group_id=place.name, auto_offset_reset="earliest"
    )
    producer = AIOKafkaProducer(bootstrap_servers=place.brokers)
    await consumer.start()
    await producer.start()
    async for record in consumer:
        await producer.send(place.topics["scores"], record.value[:120], key=record.key)


asyncio.run(main())
