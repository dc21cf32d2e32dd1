"""Record a run in which the force sensor freezes, and print the doctor's diagnosis."""

import tempfile
from pathlib import Path

import pliant

task = pliant.Task.model_validate(
    {
        "law": "admittance",
        "duration_s": 3,
        "sim": {
            "pushes": [{"at_s": 0.5, "for_s": 2, "wrench": [15, 0, 0, 0, 0, 0]}],
            "sensor": {"failures": [{"kind": "frozen", "at_s": 1.0, "for_s": 1.0}]},
        },
    }
)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "run.mcap")
    pliant.simulate(task).save(path)
    diagnosis = pliant.examine(path)
for finding in diagnosis.wrong:
    print(f"{finding.severity}: {finding.name}. {finding.cause} {finding.remedy}")
