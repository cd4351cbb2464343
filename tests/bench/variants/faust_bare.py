"""Faust as it comes, doing nothing: how fast its own consumer and streams can hand on turns."""

import os

import faust
from place import Place
from stopwatch import Stopwatch

place, watch = Place.from_env(), Stopwatch.from_env()
data = place.directory / place.name
os.makedirs(data, exist_ok=True)
app = faust.App(
    place.name,
    broker=f"kafka://{place.brokers}",
    datadir=str(data),
    topic_disable_leader=True,
    web_enabled=False,
    table_standby_replicas=0,
)
source = app.topic(place.topics["turns"], key_serializer="raw", value_serializer="raw")


@app.agent(source)
async def pass_through(stream: faust.Stream) -> None:
    """Count what comes."""
    async for _ in stream:
        watch.tick()


faust.Worker(app, loglevel="INFO", redirect_stdouts=False, console_port=0).execute_from_commandline()
