"""Rules about the source tree itself."""
import pathlib
import subprocess

TOP = pathlib.Path(__file__).parent.parent


def test_rooms_include_only_what_lies_below_them_and_stay_small():
    done = subprocess.run([str(TOP / "tools" / "check-layers")], cwd=TOP, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_shell_scripts_pass_shellcheck():
    scripts = [p for p in subprocess.run(["git", "ls-files"], cwd=TOP, capture_output=True, text=True).stdout.split()
               if (TOP / p).is_file() and (TOP / p).read_bytes()[:40].startswith((b"#!/usr/bin/env bash", b"#!/bin/sh", b"#!/bin/bash"))]
    assert scripts
    done = subprocess.run(["shellcheck", "-S", "warning", *scripts], cwd=TOP, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_tree_names_no_machine_path():
    done = subprocess.run(["git", "grep", "-nIE", r"(^|[^A-Za-z0-9_.])/(work|farm)/[a-z.]", "--", "."], cwd=TOP, capture_output=True, text=True)
    assert done.stdout == ""
