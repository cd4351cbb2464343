"""Faust as it comes, doing nothing: how fast its own consumer and streams can hand on turns."""

import asyncio
import os

import faust
import uvloop
from place import Place
from stopwatch import Stopwatch

from agents.settings import Settings

place, watch = Place.from_env(), Stopwatch.from_env()
asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
settings = Settings.from_env({"TURNSIGNAL_BROKERS": place.brokers})
app = faust.App(place.name, **settings.faust(), datadir=str(place.directory / place.name))
source = app.topic(place.topics["turns"], key_serializer="raw", value_serializer="raw")


@app.agent(source)
async def pass_through(stream: faust.Stream) -> None:
    """Count what comes."""
    async for _ in stream:
        watch.tick()


os.makedirs(place.directory / place.name, exist_ok=True)
faust.Worker(app, loglevel="INFO", redirect_stdouts=False, console_port=0).execute_from_commandline()
