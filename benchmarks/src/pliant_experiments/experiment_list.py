"""Everything that this package offers to `pliant experiment` and `pliant bench`: names, summaries and modules.

An experiment is one module with `run(seed, progress)`, which returns figures with targets. This list is all that Pliant
loads until one of them runs.
"""

from __future__ import annotations

from pliant.analysis.experiments import ARMS, Benchmark, Experiment
from pliant.compiling.entry_points import Job, Need

_PACKAGE = "pliant_experiments"
_ENTRIES = f"{_PACKAGE}.scenes.scene_entries"
_PERIOD = ("control tick", "simulator", "telemetry")
# Kernels of their own that experiments compile before they start, besides everything that an arm can do.
_LAB: tuple[Need, ...] = (*ARMS, Job("lab runs", f"{_ENTRIES}:lab_runs", 1.0, after=_PERIOD))


def _experiment(name: str, module: str, summary: str, kernels: tuple[Need, ...] = ARMS) -> Experiment:
    return Experiment(name, summary, f"{_PACKAGE}.{module}", kernels)


def _benchmark(name: str, function: str, summary: str) -> Benchmark:
    return Benchmark(name, summary, f"{_PACKAGE}.bench.{function}")


EXPERIMENTS = (
    _experiment(
        "push",
        "motion.push_response",
        "A pushed arm settles where spring and push balance, and returns after the push.",
    ),
    _experiment("press", "simulator.press", "A static press measures a surface's declared stiffness, 10³ to 10⁵ N/m."),
    _experiment(
        "admittance-response",
        "motion.admittance_response",
        "Deflection is force over stiffness, modes are damped as set, all gains tried are stable.",
    ),
    _experiment(
        "deadband",
        "motion.deadband",
        "A deadband on the law's input: no motion against the push, no jump at its edge, full spring return.",
    ),
    _experiment(
        "drift",
        "motion.drift",
        "A push above the deadband moves the tool; without a push it stays still; a spring pulls it back.",
    ),
    _experiment(
        "live-tuning",
        "motion.live_tuning",
        "Changing gains under load injects no more energy than allowed, and nothing jumps.",
    ),
    _experiment(
        "singularity",
        "motion.singularity",
        "An arm guided through its singularities stays within its limits, does not jump, and returns.",
    ),
    _experiment(
        "limits",
        "motion.command_limits",
        "No command exceeds a limit, nothing winds up at a limit, and every limited command is reported.",
    ),
    _experiment(
        "lab-forces",
        "lab.lab_forces",
        "A force deflects the two-link arm by f/K, only along the force, for any virtual mass.",
    ),
    _experiment(
        "lab-parameters",
        "lab.lab_parameters",
        "Damping ratios and deflections of the two-link arm follow from mass, damping and stiffness.",
    ),
    _experiment(
        "lab-anisotropic",
        "lab.lab_anisotropic",
        "Two-link arm, stiff along one axis and soft along the other, also with rotated axes.",
    ),
    _experiment(
        "lab-cross-coupling",
        "lab.lab_cross_coupling",
        "Does a force along x move y? Only if −Jᵀf is left out, because the push then counts twice.",
    ),
    _experiment(
        "lab-equilibrium",
        "lab.lab_equilibrium",
        "A moving equilibrium: followed without lag, and safe when it is out of reach.",
        _LAB,
    ),
    _experiment(
        "lab-model-errors",
        "lab.lab_model_errors",
        "Errors in the controller's masses, lengths or friction, and what they cost.",
        _LAB,
    ),
    _experiment("lab-jdot", "lab.lab_jdot", "The J̇ q̇ term of a moving arm: correct, incomplete and left out.", _LAB),
    _experiment(
        "impedance-pose",
        "motion.impedance_pose",
        "Impedance on a UR5e: the tool deflects by force over stiffness; torques are bounded; passive.",
    ),
    _experiment(
        "sensor-faults",
        "motion.sensor_faults",
        "A failing force sensor stops the arm within the declared time; short failures are bridged.",
    ),
    _experiment(
        "payload",
        "motion.payload_errors",
        "Tool mass within 1 %, centre of mass within 2 mm; unusable data is rejected with a reason.",
    ),
    _experiment(
        "dome",
        "contact.dome",
        "A probe finds a dome, holds 5 N, dwells and slides, 10³ to 10⁵ N/m; compared with other laws.",
    ),
    _experiment(
        "contact-sweep",
        "contact.contact_sweep",
        "Stiffness × total lag: contact settles over the whole grid without manual tuning.",
    ),
    _experiment(
        "contact-scenes",
        "contact.contact_scenes",
        "A plane, an unknown tilt, a surface that moves, one that ends, one that becomes stiffer.",
    ),
    _experiment(
        "contact-world",
        "contact.contact_world",
        "Random scenes (--scenes N, --realism WHICH, --only INDEX): the check's prediction against the outcome.",
    ),
    _experiment(
        "compare",
        "contact.compare",
        "The same contact with other laws (--rival NAME, --record FOLDER): peak force, bounces, force error.",
    ),
    _experiment(
        "predictions",
        "contact.predictions",
        "`pliant check` predicts the first touch of the simulator within 15 %.",
    ),
    _experiment(
        "base-velocity",
        "mobile.base_velocity",
        "Velocity of a base from noisy, jittered or faulty poses, compared with the mean-step formula.",
        ("kinematics",),
    ),
    _experiment(
        "planner",
        "mobile.planner_trials",
        "Paths through walls, clutter and an office: success rate and time, compared with OMPL.",
        ("planner",),
    ),
    _experiment(
        "follower",
        "mobile.follower",
        "A base with lag follows paths within millimetres, forwards and backwards; compared with pure pursuit.",
        ("planner",),
    ),
    _experiment(
        "delay",
        "contact.lag_identification",
        "Identify the lag of a robot from a small motion, over bandwidths and delays, with noise.",
    ),
    _experiment(
        "doctor",
        "contact.doctor_trials",
        "The doctor finds every defect of a contact loop, alone and combined, without false alarms.",
    ),
    _experiment(
        "whole-body",
        "mobile.body_tracking",
        "An arm on a driving base: the tool stays on its path, and the base never has to move sideways.",
        ("batch", "body"),
    ),
    _experiment(
        "mission",
        "mobile.mission_trials",
        "Park the arm, drive to a table, reach a goal: random starts, then with each fault that should stop it.",
        ("loop", "body", "planner"),
    ),
    _experiment(
        "ur-emulator",
        "robots.ur_emulator",
        "The UR driver on an emulated controller, in real time: latency, dome, watchdog, each fault.",
    ),
    _experiment(
        "faults",
        "faults.fault_matrix",
        "Kill, stop, starve and forge each part of a running system (--rows quick): safe, and nothing is lost.",
    ),
    _experiment(
        "realism",
        "simulator.world_effects",
        "Every effect of the realistic world, compared with its closed form and with measurements; and its cost.",
    ),
    _experiment(
        "published",
        "simulator.real_arms",
        "A controller like a robot's force mode on realistic arms, compared with published measurements.",
    ),
    _experiment("bounce", "simulator.bounce", "A bouncing body never leaves a surface with more energy than it had."),
    _experiment(
        "servo", "simulator.servo_response", "The simulated servo follows with the declared bandwidth and delay."
    ),
    _experiment(
        "sensor",
        "simulator.sensor_model",
        "The simulated force sensor shows weight, inertia, noise, resolution, range and dropouts as declared.",
    ),
    _experiment(
        "ros2",
        "robots.ros2_bridge",
        "ROS 2 bridge: cost per message, round-trip time, and its effect on the control loop.",
    ),
    _experiment(
        "repeat",
        "simulator.repeat",
        "The same seed gives the same numbers: run twice, in real time, and replayed from a recording.",
    ),
)

BENCHMARKS = (
    _benchmark("tick", "bench_control:tick", "One tick of each law, compared with NumPy and Pinocchio."),
    _benchmark("loop", "bench_control:loop", "Lateness of the control loop, alone and with a busy reader."),
    _benchmark("sim", "bench_control:sim", "Speed of the closed-loop simulation, in one thread and in two."),
    _benchmark("start", "bench_control:start", "Start-up time of the commands with compiled kernels."),
    _benchmark("compile", "bench_compile:compile_kernels", "Time of the first compilation, and size of the cache."),
)

ALL = (*EXPERIMENTS, *BENCHMARKS)
"""What the entry point names."""
