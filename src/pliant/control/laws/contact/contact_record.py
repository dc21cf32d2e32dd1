"""What the contact law remembers from tick to tick: its record in telemetry, each field declared once."""

from __future__ import annotations

from pliant.kernel import kernel, record_in
from pliant.records import Field, Layout

CONTACT = Layout(
    "Contact",
    (
        Field("state", "", "state of the contact law (see Contact states)", kind="i8"),
        Field("reason", "", "the event that led into this state (see Contact events)", kind="i8"),
        Field(
            "rejected",
            "",
            "why the last command was rejected; 0: it was accepted (see Contact events)",
            kind="i8",
        ),
        Field("before", "", "the state that was paused", kind="i8"),
        Field("since_s", "s", "time in this state"),
        Field("approach", "", "direction of approach: the tool's axis at the start, in the base frame", (3,)),
        Field("anchor", "m", "where the present seek or lift-off began, in the base frame", (3,)),
        Field("normal", "", "estimated direction out of the surface, in the base frame", (3,)),
        Field("curvature", "1/m", "how fast the normal turns towards the sliding direction"),
        Field("doubt", "rad", "uncertainty of the learned slope along the path"),
        Field("force_n", "N", "force along the normal"),
        Field("steady_n", "N", "force along the normal, low-passed again for decisions"),
        Field("resting", "N", "total force, low-passed since the state began; a start is checked against it", (3,)),
        Field("lift_n", "N", "force at the start of the lift-off"),
        Field(
            "lifts",
            "",
            "direction of the lift-off: 0 along the normal, 1 along the approach, 2 back from an obstacle",
            kind="i8",
        ),
        Field("back_m", "m", "how far the tool may move back from an obstacle to the lift-off"),
        Field("out_m", "m", "motion out of the surface since the touch, minus what the path explains"),
        Field("pulled_s", "s", "how long the force has pulled towards a surface before any touch"),
        Field("settling_s", "s", "time spent settling, over all touches since the force last settled"),
        Field("halt", "", "0: not halted, 1: halt requested, 2: halted", kind="i8"),
        Field("sunk_m", "m", "motion into the surface without a matching force, since the force was last held"),
        Field("target_n", "N", "target force at this moment"),
        Field("peak_n", "N", "largest force along the normal since the start"),
        Field("friction", "", "learned coefficient of friction"),
        Field("touching", "", "1 while in contact", kind="i8"),
        Field("lost_s", "s", "how long the force has been below contact.loss_n"),
        Field("losses", "", "contact losses since the start", kind="i8"),
        Field("touches", "", "touches since the start", kind="i8"),
        Field("stiffness", "N/m", "learned stiffness of the surface"),
        Field("touched", "N/m", "stiffness learned at the touch, before the slide"),
        Field("damping", "N s/m", "learned damping of the surface"),
        Field("covariance", "", "covariance of stiffness and damping: kk, kd, dd", (3,)),
        Field("misfit", "N^2", "mean square of the force that stiffness and damping do not explain"),
        Field(
            "bound", "N/m", "upper bound of the stiffness, from which the gain follows: learned value plus uncertainty"
        ),
        Field("gain", "m/(N s)", "speed per force error"),
        Field("integral", "m/s", "speed added by the integral"),
        Field("wanted", "m/s", "speed into the surface before the law's limit"),
        Field("asked", "m/s", "speed into the surface that the law requested"),
        Field("damper_n", "N", "force of the law's damper, positive inward; opposes the motion if it damps"),
        Field("following", "", "1 once the motion of the surface is observed", kind="i8"),
        Field("surface_v", "m/s", "speed of the surface along the normal, as observed"),
        Field("surface_a", "m/s^2", "its acceleration, as observed"),
        Field("slow", "", "slow parts of force, depth, speed; of their remainders; of force minus damping", (7,)),
        Field(
            "sums",
            "",
            "means of the fast parts: x, xx; force minus damping f, xf, ff; v, vv, xv; force g, xg, vg, gg",
            (12,),
        ),
        Field("soft_s", "s", "time constant of each of two poles that smooth force and speed in contact"),
        Field("soft", "N", "force after each of them, in the base frame", (6,)),
        Field("soft_v", "m/s", "speed into the surface: filtered as the force was, and after each of them", (3,)),
        Field("seen", "", "depth, speed and force one tick ago, equally filtered", (3,)),
        Field("travelled_m", "m", "distance along the path"),
        Field("stuck_s", "s", "how long limits have blocked the tool"),
        Field("way", "m/s", "requested velocity along the surface", (3,)),
        Field("held_s", "s", "how long the force has stayed within contact.band_n"),
        Field("lifted", "", "1 when the lift-off is complete or not needed", kind="i8"),
        Field("model", "m", "tool position that the command and the robot's lag explain, in the base frame", (3,)),
        Field("model_v", "m/s", "its velocity", (3,)),
        Field("model_off", "m", "measured position minus the explained one, low-passed", (3,)),
        Field("tool_v", "m/s", "observed velocity of the tool, in the base frame", (3,)),
        Field("observing", "", "1 once the motion of the tool is observed", kind="i8"),
        Field("zero", "N", "force that was taken as zero at the start, in the base frame", (3,)),
        Field("free", "N", "slow mean of the force while nothing touches the tool, in the base frame", (3,)),
        Field("free_n2", "N^2", "variance of the low-passed force about it, per axis"),
        Field("noise_n", "N", "noise of one sample: contact.noise_n, or what was measured before the touch if more"),
        Field("total_n", "N", "size of the force, low-passed"),
        Field("felt_n", "N", "the same, without the part that friction cannot explain"),
        Field("along_n", "N", "force along the estimated normal, low-passed"),
        Field("share", "", "share of the force that is normal; the rest is friction"),
        Field("crawl_s", "s", "how long the tool has slid too slowly"),
        Field("over_s", "s", "how long the total force has been far above the target"),
        Field(
            "leaning_m",
            "m",
            "path length over which the force has deviated further from the normal than friction explains",
        ),
    ),
)
"""The state of the contact law."""

_CONTACT = CONTACT.dtype


@kernel
def contact_of(s):
    """The law's record in the memory of the controller's state."""
    return record_in(s.memory, _CONTACT)
