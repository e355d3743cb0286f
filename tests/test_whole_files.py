"""Files that are there whole or not at all."""

import os
import stat

import pytest

from holodeck_nb.whole_files import unversioned_folder, write_whole


@pytest.mark.parametrize(("body", "written"), [("a\nü", b"a\n\xc3\xbc"), (b"\0\r\n", b"\0\r\n"), ("", b"")])
def test_what_is_given_is_what_is_there(tmp_path, body, written):
    write_whole(tmp_path / "f", body)
    assert (tmp_path / "f").read_bytes() == written
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


def test_an_older_file_is_replaced(tmp_path):
    (tmp_path / "f").write_text("the old one, and longer")
    write_whole(tmp_path / "f", "new")
    assert (tmp_path / "f").read_text() == "new"


def test_a_write_that_fails_leaves_the_old_one_and_nothing_else(tmp_path, monkeypatch):
    (tmp_path / "f").write_text("the old one")

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(OSError, match="No space left on device"):
        write_whole(tmp_path / "f", "new")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["the old one"]


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "no" / "f", "new")


def test_private_is_for_this_user_alone(tmp_path):
    write_whole(tmp_path / "private", "x", private=True)
    (tmp_path / "usual").write_text("x")
    write_whole(tmp_path / "like", "x")
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o600
    assert (tmp_path / "like").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_folder_keeps_itself_out_of_version_control_once(tmp_path):
    made = unversioned_folder(tmp_path / "cache" / "judges", tmp_path / "cache")
    assert made.is_dir()
    assert (tmp_path / "cache" / ".gitignore").read_text() == "*\n"
    (tmp_path / "cache" / ".gitignore").write_text("mine\n")
    unversioned_folder(made, tmp_path / "cache")
    assert (tmp_path / "cache" / ".gitignore").read_text() == "mine\n"


@pytest.mark.skipif(os.name == "nt", reason="links and rights are those of POSIX")
def test_a_link_is_followed_and_rights_stay(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640


def test_an_error_names_the_file_that_was_asked_for(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        write_whole(tmp_path / "no" / "f", "x")
    assert caught.value.filename == str(tmp_path / "no" / "f")
