from harness.kube import builders as b


def test_a_pod_uses_its_claims_in_its_only_container() -> None:
    built = b.pod("p", claims={"gpu": "one"}, templates={"nic": b.claim_template("t", b.request("nic"))})
    assert built["spec"]["resourceClaims"] == [
        {"name": "gpu", "resourceClaimName": "one"},
        {"name": "nic", "resourceClaimTemplateName": "t"},
    ]
    (main,) = built["spec"]["containers"]
    assert main["resources"] == {"claims": [{"name": "gpu"}, {"name": "nic"}]}


def test_a_pod_ends_at_once_and_needs_no_token() -> None:
    spec = b.pod("p")["spec"]
    assert spec["terminationGracePeriodSeconds"] == 0
    assert spec["automountServiceAccountToken"] is False
    assert "resourceClaims" not in spec
    assert "nodeSelector" not in spec


def test_a_container_may_use_one_request_of_a_claim() -> None:
    built = b.container(claims=["a", ("b", "r")], limits={"cpu": 1})
    assert built["resources"] == {"limits": {"cpu": "1"}, "claims": [{"name": "a"}, {"name": "b", "request": "r"}]}


def test_a_request_says_only_what_was_asked_for() -> None:
    assert b.request("k") == {"name": "gpu", "exactly": {"deviceClassName": "k"}}
    assert b.request("k", all_devices=True)["exactly"]["allocationMode"] == "All"
    assert b.request("k", admin_access=False)["exactly"]["adminAccess"] is False
    assert b.request("k", capacity={"memory": "1Gi"})["exactly"]["capacity"] == {"requests": {"memory": "1Gi"}}


def test_a_class_may_be_given_as_the_object() -> None:
    assert b.request(b.device_class("k", "d"))["exactly"]["deviceClassName"] == "k"


def test_a_class_selects_its_drivers_devices() -> None:
    (selector,) = b.device_class("k", "d.example.com")["spec"]["selectors"]
    assert selector == {"cel": {"expression": "device.driver == 'd.example.com'"}}


def test_a_toleration_is_exists_without_a_value() -> None:
    assert b.device_toleration("a") == {"key": "a", "operator": "Exists"}
    assert b.device_toleration("a", value="b", seconds=0) == {
        "key": "a",
        "operator": "Equal",
        "value": "b",
        "tolerationSeconds": 0,
    }


def test_a_deployments_pods_carry_its_selector_and_the_pod_is_left_alone() -> None:
    template = b.pod("x", labels={"k": "v"})
    built = b.deployment("d", template)
    assert built["spec"]["template"]["metadata"]["labels"] == {"k": "v", "app": "d"}
    assert built["spec"]["template"]["spec"]["restartPolicy"] == "Always"
    assert template["spec"]["restartPolicy"] == "Never"


def test_a_composite_template_holds_its_children() -> None:
    leaf = b.pod_group_template("leaf", b.gang(2))
    inner = b.composite_pod_group_template("inner", b.gang_of_groups(1), groups=[leaf])
    root = b.composite_pod_group_template("root", b.gang_of_groups(1), composites=[inner])
    assert b.workload("w", composites=[root])["spec"] == {
        "compositePodGroupTemplates": [
            {
                "name": "root",
                "schedulingPolicy": {"gang": {"minGroupCount": 1}},
                "compositePodGroupTemplates": [
                    {
                        "name": "inner",
                        "schedulingPolicy": {"gang": {"minGroupCount": 1}},
                        "podGroupTemplates": [{"name": "leaf", "schedulingPolicy": {"gang": {"minCount": 2}}}],
                    }
                ],
            }
        ]
    }


def test_a_composite_names_its_parent_and_its_template() -> None:
    made = b.composite_pod_group("inner", b.basic(), b.workload_ref("w", "inner"), parent="root")
    assert made["spec"] == {
        "parentCompositePodGroupName": "root",
        "workloadRef": {"workloadName": "w", "templateName": "inner"},
        "schedulingPolicy": {"basic": {}},
    }
