"""The complete emulated controller: safety, mode, program and arm, and their RTDE outputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from pliant.robots.emulator.emulated_arm import DT, EmulatedArm
from pliant.robots.emulator.emulated_faults import Fault
from pliant.robots.emulator.urscript_program import Program
from pliant.robots.emulator.variables import blank
from pliant.robots.ur.controller_status import takes_torque
from pliant.robots.ur.rtde import Version

# What safety_status_bits says; the last one comes with every stop, and with some that have no bit of their own.
NORMAL, PROTECTIVE, SAFEGUARD, EMERGENCY, SAFETY_STOP = 1 << 0, 1 << 2, 1 << 4, 1 << 7, 1 << 10
# Numbers of safety_mode and their names on the dashboard. A stop of no kind of its own: by the enabling switch.
SAFETY = {
    NORMAL: (1, "NORMAL"), PROTECTIVE: (3, "PROTECTIVE_STOP"), SAFEGUARD: (5, "SAFEGUARD_STOP"),
    EMERGENCY: (7, "ROBOT_EMERGENCY_STOP"), SAFETY_STOP: (13, "SYSTEM_THREE_POSITION_ENABLING_STOP"),
}  # fmt: skip
MODES = {3: "POWER_OFF", 5: "IDLE", 7: "RUNNING"}


class Controller:
    """A controller with its arm. `show` gets what the pendant would show, such as a runtime error."""

    def __init__(
        self,
        arm: EmulatedArm,
        model: str,
        version: Version,
        faults: tuple[Fault, ...] = (),
        show: Callable[[str], object] = lambda text: None,
    ) -> None:
        self.arm, self.model, self.version, self._show = arm, model, version, show
        self.program = Program(arm, self.say, by_torque=takes_torque(version))
        self.safety, self.mode, self.remote = NORMAL, 7, True
        self.silent_until, self.late_s, self.hangs_up = 0.0, 0.0, False
        self.slider, self.lockstep_s = 1.0, 0.0
        self.messages: list[str] = []
        self.missed = 0
        self._false: list[Fault] = []
        self.values: dict[str, Any] = blank()
        self._planned = [fault for fault in faults if fault.at_s is not None]
        self._moving_since = -1.0
        for fault in faults:
            if fault.at_s is None:
                self.inject(fault)
        self.tell()

    @property
    def now(self) -> float:
        """The controller's time [s]: it advances in a missed period, although the arm does not."""
        return self.arm.time_s + self.missed * DT

    def say(self, text: str) -> None:
        """Send a message to the clients' logs, and show it."""
        self.messages.append(text)
        self._show(text)

    # -- a period --

    def step(self) -> None:
        """Run 2 ms: watchdog, faults that are due, arm; then update the outputs."""
        self.program.watch(self.now)
        if self.program.protective:
            self.program.protective = False
            self._halt(PROTECTIVE, "a protective stop was requested")
        self._due()
        self.arm.advance()
        self.arm.read()
        if words := self.arm.trouble():
            self._halt(PROTECTIVE, f"a protective stop: {words}")
            self.say(f"Protective stop: {words}.")
        self.tell()

    def _due(self) -> None:
        if self.program.moving and self._moving_since < 0.0:
            self._moving_since = self.now
        if self._moving_since < 0.0:
            return
        for fault in [fault for fault in self._planned if self.now - self._moving_since >= (fault.at_s or 0.0)]:
            self._planned.remove(fault)
            self.inject(fault)

    # -- faults --

    def inject(self, fault: Fault) -> None:
        """Inject a fault now."""
        match fault.name:
            case "protective stop":
                self._halt(PROTECTIVE, "a protective stop")
            case "emergency stop":
                self.mode = 3
                self._halt(EMERGENCY, "an emergency stop")
            case "safeguard stop":
                self._halt(SAFEGUARD, "a safeguard stop")
            case "safety stop":
                self._halt(SAFETY_STOP, "its safety system")
            case "stop program":
                self.program.stop("it was stopped at the pendant")
            case "mode idle":
                self.mode = 5
                self.program.stop("the arm was switched to idle")
            case "local control":
                self.remote = False
            case "speed slider":
                self.slider = fault.numbers[0]
            case "silence":
                self.silent_until = self.now + fault.numbers[0]
            case "late":
                self.late_s = fault.numbers[0]
            case "hang up":
                self.hangs_up = True
            case "watchdog slow":
                self.program.slow_s = fault.numbers[0]
            case "lockstep":
                self.lockstep_s = fault.numbers[0]
            case "push":
                self.arm.push(fault.numbers[:6], fault.numbers[6])
            case "false position" | "false speed" | "false zeros" | "false shift" | "false stamp":
                self._false.append(fault)
            case "clear":
                self.clear()

    def _halt(self, safety: int, why: str) -> None:
        self.safety = safety
        self.program.stop(why)

    def clear(self) -> None:
        """Clear all faults; a stopped program stays stopped, and a slow watchdog and a lockstep stay as they are."""
        self.safety, self.mode, self.remote, self.silent_until, self.late_s = NORMAL, 7, True, 0.0, 0.0
        self.slider = 1.0
        self._false.clear()

    @property
    def is_silent(self) -> bool:
        """Whether it sends nothing now, as an injected fault."""
        return self.now < self.silent_until

    @property
    def safety_bits(self) -> int:
        """The safety bits: every stop is also one by the safety system."""
        return self.safety if self.safety == NORMAL else self.safety | SAFETY_STOP

    # -- outputs --

    def tell(self) -> None:
        """Update the outputs."""
        arm, program, values = self.arm, self.program, self.values
        zeros, target = (0.0,) * 6, tuple(arm.target_q.tolist())
        pose, speed = arm.tcp_pose(), arm.tcp_speed()
        values.update(
            timestamp=self.now, target_q=target, target_qdd=zeros,
            actual_q=tuple(arm.q.tolist()), actual_qd=tuple(arm.qd.tolist()), target_qd=tuple(arm.qd.tolist()),
            target_moment=tuple(arm.tau.tolist()), actual_TCP_pose=pose, target_TCP_pose=pose,
            actual_TCP_speed=speed, target_TCP_speed=speed, actual_TCP_force=arm.tcp_force(),
            ft_raw_wrench=tuple(arm.raw.tolist()), actual_execution_time=DT,
            robot_mode=self.mode, safety_mode=SAFETY[self.safety][0], safety_status_bits=self.safety_bits,
            runtime_state=program.state, robot_status_bits=int(self.mode == 7) | int(program.plays) << 1,
            target_speed_fraction=self.slider, payload=arm.mass, payload_cog=tuple(arm.com.tolist()),
            output_int_register_0=program.ready, output_int_register_1=program.answer, output_int_register_2=0,
        )  # fmt: skip
        for fault in self._false:
            values.update(self._falsified(fault))

    def _falsified(self, fault: Fault) -> dict[str, Any]:
        """What the controller reports instead of the truth."""
        q, qd = list(self.values["actual_q"]), list(self.values["actual_qd"])
        match fault.name:
            case "false stamp":
                return {"timestamp": math.nan}
            case "false zeros":
                return {"actual_q": (0.0,) * len(q), "actual_qd": (0.0,) * len(q)}
            case "false shift":
                return {"actual_q": tuple(each + fault.numbers[0] for each in q)}
        joint, value = round(fault.numbers[0]) - 1, fault.numbers[1]
        (q if fault.name == "false position" else qd)[joint] = value
        return {"actual_q": tuple(q), "actual_qd": tuple(qd)}
