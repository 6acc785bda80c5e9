#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What ties the files here to the program: check.py RXSTALL WHAT.

  metrics    every metric that the alert rules and the dashboard name is one that
             `rxstall metrics` exports
  dashboard  ids are unique, panels do not overlap, each has a query
  daemonset  names that must agree do, and what the program needs is there
"""
import json
import re
import subprocess
import sys
from pathlib import Path

import yaml

here = Path(__file__).parent
rules = yaml.safe_load((here / "prometheus/rxstall.rules.yml").read_text())
dashboard = json.loads((here / "grafana/rxstall.json").read_text())


def check_metrics(rxstall):
    text = subprocess.run([rxstall, "metrics", "--listen", "0"], check=True, capture_output=True, text=True)
    exported = set(re.findall(r"^# TYPE (\S+) ", text.stdout, re.M))
    expressions = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    expressions += [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    expressions += [variable["query"]["query"] for variable in dashboard["templating"]["list"]
                    if variable["type"] == "query"]
    named = set(re.findall(r"\b\w*rxstall\w*\b", " ".join(expressions)))
    assert len(named) > 10, named
    assert named <= exported, f"not exported: {named - exported}"


def check_dashboard(_):
    panels = dashboard["panels"]
    ids = [panel["id"] for panel in panels]
    assert len(set(ids)) == len(ids), ids
    cells = set()
    for panel in panels:
        assert panel["targets"] and panel["title"], panel["id"]
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24, place
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert (x, y) not in cells, f"panel {panel['id']} lies on another"
                cells.add((x, y))


def check_daemonset(_):
    (daemonset,) = yaml.safe_load_all((here / "kubernetes/daemonset.yaml").read_text())
    assert (daemonset["apiVersion"], daemonset["kind"]) == ("apps/v1", "DaemonSet")
    template = daemonset["spec"]["template"]
    assert daemonset["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    pod = template["spec"]
    assert pod["hostPID"] is True
    volumes = {volume["name"] for volume in pod["volumes"]}
    used = set()
    for container in pod["containers"]:
        used |= {mount["name"] for mount in container["volumeMounts"]}
        added = set(container["securityContext"]["capabilities"]["add"])
        unit = (here / "systemd/rxstall-guard.service").read_text()
        needed = set(re.search(r"^CapabilityBoundingSet=(.*)$", unit, re.M)[1].replace("CAP_", "").split())
        assert added == needed, f"{container['name']}: {added ^ needed}"
    assert used == volumes, used ^ volumes
    paths = {volume["hostPath"]["path"] for volume in pod["volumes"] if "hostPath" in volume}
    assert "/var/lib/node_exporter/textfile" in paths, paths


globals()["check_" + sys.argv[2]](sys.argv[1])
