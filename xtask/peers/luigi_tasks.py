"""One luigi task per video, with a file as its target."""

import os
import pathlib
import sys

import luigi

import one_task

OUT = pathlib.Path(os.environ["PEER_OUT"])
CHAIN = os.environ["PEER_CHAIN"] == "1"


class Render(luigi.Task):
    number = luigi.IntParameter()
    retry_count = 3

    def requires(self):
        return Render(self.number - 1) if CHAIN and self.number else []

    def output(self):
        return luigi.LocalTarget(str(OUT / f"{self.number:04}.mp4"))

    def run(self):
        before = f"{self.number - 1:04}" if CHAIN and self.number else None
        one_task.render(f"{self.number:04}", self.output().path, before)


tasks = [Render(number) for number in range(int(os.environ["PEER_TASKS"]))]
done = luigi.build(tasks, workers=int(os.environ["PEER_JOBS"]), local_scheduler=True, log_level="WARNING")
sys.exit(0 if done else 1)
