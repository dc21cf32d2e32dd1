"""`make test` runs at least one test of everything that Pliant can do: this is the list of them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from pliant.cli.main import app
from pliant.control.laws.registry import LAWS

TESTS = Path(__file__).parent

COVERED = {
    "law hold": "laws/test_hold.py::test_the_goal_is_reached_from_anywhere",
    "law admittance": "tick/test_tick.py::test_a_push_settles_at_force_less_deadband_over_stiffness",
    "law impedance": "runtime/test_impede.py::test_from_a_stretched_arm_it_comes_back",
    "law contact": "runtime/test_contact_tasks.py::test_the_task_goes_through_its_states_in_order",
    "every interface": "tick/test_tick_interfaces.py::test_a_move_arrives_through_every_interface",
    "contact": "contact/test_contact_law.py::test_contact_settles_without_a_bounce_on_every_stiffness",
    "paced loop": "runtime/test_session.py::test_move_joints_reaches_the_goal",
    "recorder": "runtime/test_session.py::test_a_recorded_session_is_complete_and_runs_again_bit_for_bit",
    "whole body": "runtime/test_body_loop.py::test_the_tool_keeps_to_its_path_through_the_lags_of_base_and_arm",
    "planner": "mobile/test_planner.py::test_uncompiled_the_search_finds_the_same_way",
    "mission": "mobile/test_mission.py::test_a_mission_goes_through_its_stages_to_its_goal",
    "Studio page": "studio/test_page.py::test_dragging_the_arm_pushes_it_and_letting_go_ends_the_push",
    "panel of a law": "studio/test_own_law_page.py::test_every_live_number_of_your_own_law_has_a_slider_that_works",
    "messages": "studio/test_messages.py::test_a_page_that_disagrees_with_a_changed_declaration_does_not_compile",
    "mission page": "studio/test_mission_page.py::test_begin_sets_the_base_moving_and_stop_brakes_it",
    "ROS 2 bridge": "bridge/test_bridge_peer.py::test_a_real_ros_hears_every_value_of_the_loop",
    "UR emulator": "robots/ur/test_ur_rtde_clients.py"
    "::test_the_control_client_commands_the_arm_and_the_watchdog_ends_its_program",
    "pliant demo": "cli/test_run_ends.py::test_the_demo_runs_by_itself_and_leaves_a_picture",
    "pliant run": "cli/test_command_line.py::test_a_fast_run_records_the_same_numbers_as_a_paced_one",
    "pliant info": "cli/test_command_line.py::test_info_shows_joints_home_payload_and_what_was_assumed",
    "pliant goal": "cli/test_lab_commands.py::test_goal_moves_the_equilibrium_and_says_where_goal_and_tool_are",
    "pliant push": "cli/test_lab_commands.py::test_a_real_push_is_measured_and_ends",
    "pliant set": "cli/test_lab_commands.py::test_the_switches_of_the_law_are_set_live",
    "pliant identify": "cli/test_identify_command.py"
    "::test_it_writes_mass_centre_and_bias_into_the_task_and_keeps_the_comments",
    "pliant emulate": "cli/test_emulate_command.py::test_it_listens_writes_its_trace_and_ends_when_it_is_asked_to",
    "pliant plan": "cli/test_plan_command.py::test_a_plan_is_told_and_drawn",
    "pliant plot": "cli/test_command_line.py::test_plot_makes_a_picture_and_a_page_that_asks_for_nothing_from_outside",
    "pliant doctor": "cli/test_command_line.py"
    "::test_the_doctor_says_what_is_wrong_with_cause_and_remedy_and_exit_code_one",
    "pliant replay": "cli/test_command_line.py::test_a_recorded_run_replays_without_a_difference",
    "pliant experiment": "cli/test_command_line.py::test_json_is_exactly_one_object_and_agrees_with_the_exit_code",
    "pliant bench": "cli/test_command_line.py::test_the_sim_benchmark_prints_json_too",
    "pliant command": "cli/test_command_command.py::test_a_contact_is_started_and_stopped_from_another_terminal",
    "pliant stop": "cli/test_command_command.py::test_the_robot_is_stopped_and_continues_from_another_terminal",
    "pliant tare": "runtime/test_set_command.py::test_the_command_line_tares",
    "pliant check": "cli/test_check_command.py::test_a_task_that_will_settle_meets_every_bar",
    "pliant cache": "cli/test_cache_command.py::test_it_shows_where_how_much_and_what_is_ready",
    "UR driver": "robots/ur/test_ur_lines.py::test_a_push_leads_the_tool_through_the_driver_as_on_the_simulator",
    "force sensor": "sensors/test_sensor_loop.py::test_an_arm_moves_by_the_wrench_of_a_box_and_stops_when_the_box_dies",
    "surface of your own": "robots/test_surface_kinds.py"
    "::test_the_example_presses_back_along_its_own_normal_and_replays",
    "driver checks": "robots/test_driver_checks.py::test_a_defect_is_found_by_its_check_and_by_no_other",
    "own driver": "robots/test_own_robot.py::test_a_driver_that_raises_ends_the_loop_with_its_name_and_is_stopped",
    "documentation site": "docs/test_site.py::test_searching_for_deadband_finds_a_page_about_it",
    "pliant studio": "cli/test_studio_command.py::test_the_demo_opens_the_studio_in_a_terminal_and_ctrl_c_ends_it",
}


def slow_marks(place: str) -> list[str]:
    """The marks of the test at `place` that leave it out of `make test`; fails where there is no such test."""
    file, _, name = place.partition("::")
    body = ast.parse((TESTS / file).read_text()).body
    [test] = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == name]
    of_file = [ast.unparse(node) for node in body if isinstance(node, ast.Assign) and "pytestmark" in ast.unparse(node)]
    return [mark for mark in [*map(ast.unparse, test.decorator_list), *of_file] if mark.endswith("mark.slow")]


@pytest.mark.parametrize("capability", COVERED)
def test_the_quick_tier_covers(capability: str) -> None:
    assert not slow_marks(COVERED[capability])


def test_every_law_and_every_verb_is_in_the_list() -> None:
    verbs = {f"pliant {command.name}" for command in app.registered_commands}
    assert {*verbs, *(f"law {name}" for name in LAWS)} <= set(COVERED)
