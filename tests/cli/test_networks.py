"""`netdyno networks`: the family, the unit and the options of each network, and of what its MACs are."""


def _rows(done):
    assert done.returncode == 0, done.stderr
    return {line.split()[0]: " ".join(line.split()[1:]) for line in done.stdout.splitlines() if line.strip()}


def test_a_network_has_its_family_and_all_its_options(netdyno):
    rows = _rows(netdyno("networks", "dcn", "--set", "width=0.5"))
    assert rows["family"] == "cnn"
    assert rows["options"] == "width=0.5, form=shrinking"
    assert "of one image 68,380,416" in rows["MACs"]


def test_the_macs_of_a_text_are_those_of_a_whole_row(netdyno):
    assert _rows(netdyno("networks", "lstm"))["MACs"].startswith("of 32 tokens")


def test_the_list_names_families_and_units(netdyno):
    lines = [line.split() for line in netdyno("networks").stdout.splitlines()]
    assert any(line[:2] == ["deconv", "mnist"] and "images" in line for line in lines[lines.index(["Generative"]) :])
    assert any(line[:3] == ["gpt2", "text", "1024"] and "tokens" in line for line in lines)
