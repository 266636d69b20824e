"""Other tools call the test split `validation` or `val`."""

import pytest
from tests.data.samples import encoded_items, write

from netdyno.data.formats import tar_shards, tfrecord


@pytest.mark.parametrize("form", [tar_shards.FORMAT, tfrecord.FORMAT])
@pytest.mark.parametrize("name", ["validation", "val"])
def test_files_that_other_tools_name_so_are_the_test_split(tmp_path, form, name):
    write(form, tmp_path / "a", encoded_items(3))
    for path in (tmp_path / "a").iterdir():
        path.rename(path.with_name(path.name.replace("train", name)))
    assert form.find(tmp_path / "a") == ["test"]
    source = form.open(tmp_path / "a", "test")
    assert [source.item(index).encoded for index in range(3)] == [item.encoded for item in encoded_items(3)]
    write(form, tmp_path / "b", encoded_items(2))
    for path in (tmp_path / "b").iterdir():
        path.rename(tmp_path / "a" / path.name.replace("train", "test"))
    both = form.open(tmp_path / "a", "test")
    assert both.about.count == 2
    assert both.left_out == {f"files of {name}, beside those of test": 1}
