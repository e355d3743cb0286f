"""Remote files over real HTTP: in time, in bounds, kept and validated, and no secret stays behind."""

import asyncio
import gzip
import logging
import time

import pytest
from file_servers import Answer, FileServer, dripping, redirect, slow, with_etag

from holodeck_nb.files import download, fetch
from holodeck_nb.files.addresses import Target, target_of
from holodeck_nb.files.cache import FileCache
from holodeck_nb.files.extraction import FileError
from holodeck_nb.files.fetch import fetched


@pytest.fixture
def server():
    server = FileServer()
    yield server
    server.close()


@pytest.fixture
def cache(tmp_path):
    return FileCache(tmp_path / "cache")


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(fetch, "_FIRST_PAUSE_S", 0.01)


def have(url, cache=None, seconds=5.0, max_retries=0):
    """What was fetched, and its content."""

    async def main():
        async with fetched(url, cache, seconds=seconds, max_retries=max_retries) as file:
            return file, file.path.read_bytes()

    return asyncio.run(main())


def refused(url, *args, **kwargs):
    with pytest.raises(FileError) as caught:
        have(url, *args, **kwargs)
    return str(caught.value)


def test_a_plain_file_is_gone_afterwards(server):
    server.routes["/r.txt"] = Answer(b"net cash")
    file, content = have(server.url + "/r.txt?a=1&b=%20")
    assert (content, file.source, file.cached_path) == (b"net cash", "downloaded", None)
    assert not file.path.exists()
    assert server.requests[0][0] == "/r.txt?a=1&b=%20"


def test_what_a_server_packs_unasked(server):
    packed = gzip.compress(b"net cash" * 1000)
    server.routes["/r.txt"] = Answer(packed, headers={"Content-Encoding": "gzip"})
    assert have(server.url + "/r.txt")[1] == b"net cash" * 1000
    assert server.requests[0][1]["Accept-Encoding"] == "identity"


def test_a_packing_that_nobody_knows(server):
    server.routes["/r.txt"] = Answer(b"x", headers={"Content-Encoding": "zorb"})
    assert refused(server.url + "/r.txt") == "the server sends it packed as 'zorb', which was not asked for"


class TestTime:
    @pytest.mark.parametrize("answer", [dripping(), slow(b"late", 30.0)], ids=["dripping", "slow"])
    def test_the_limit_is_for_the_whole_download(self, server, answer):
        server.routes["/r.txt"] = answer
        clock = time.perf_counter()
        said = refused(server.url + "/r.txt", seconds=0.4, max_retries=5)
        assert said == "the download took more than 0.4 s (execution.download_timeout)"
        assert time.perf_counter() - clock < 1.5

    def test_a_silent_server(self):
        import socket

        with socket.create_server(("127.0.0.1", 0)) as listening:
            url = f"http://127.0.0.1:{listening.getsockname()[1]}/r.txt"
            assert "took more than 0.3 s" in refused(url, seconds=0.3)


class TestRetries:
    def test_what_may_pass_is_tried_again(self, server):
        server.routes["/r.txt"] = lambda _, number: Answer(status=503) if number < 3 else Answer(b"at last")
        assert have(server.url + "/r.txt", max_retries=2)[1] == b"at last"

    def test_no_more_often_than_asked_for(self, server):
        server.routes["/r.txt"] = Answer(status=503)
        assert refused(server.url + "/r.txt", max_retries=2) == "the server answered 503 Service Unavailable"
        assert server.asked("/r.txt") == 3

    @pytest.mark.parametrize(
        ("status", "said"), [(404, "Not Found"), (403, "Forbidden"), (401, "Unauthorized")]
    )
    def test_what_will_not_pass_is_not(self, server, status, said):
        server.routes["/r.txt"] = Answer(status=status)
        assert refused(server.url + "/r.txt", max_retries=3) == f"the server answered {status} {said}"
        assert server.asked("/r.txt") == 1

    def test_a_body_that_breaks_off(self, server):
        server.routes["/r.txt"] = Answer(b"half", stated_length=1000)
        assert "could not be reached: RemoteProtocolError" in refused(server.url + "/r.txt", max_retries=1)
        assert server.asked("/r.txt") == 2

    def test_nobody_there(self, server):
        url = server.url
        server.close()
        assert refused(url + "/r.txt?sig=SECRET") == "127.0.0.1 could not be reached: ConnectError"

    def test_no_such_host(self):
        assert refused("http://no.such.host.invalid/r.txt") == "there is no host 'no.such.host.invalid'"


class TestSize:
    @pytest.fixture(autouse=True)
    def small_limit(self, monkeypatch):
        monkeypatch.setattr(download, "DOWNLOAD_BYTES", 50_000)

    def test_a_stated_size(self, server):
        server.routes["/r.txt"] = Answer(b"x", stated_length=10**12)
        assert refused(server.url + "/r.txt").startswith("it has 953,674 MB or more; at most")

    def test_an_unstated_one(self, server):
        server.routes["/r.txt"] = Answer(pieces=(bytes(10_000) for _ in range(10**6)), stated_length=-1)
        assert refused(server.url + "/r.txt").endswith("KB or more; at most 49 KB are fetched")

    def test_one_that_unpacks(self, server):
        packed = gzip.compress(bytes(50_000_000))
        server.routes["/r.txt"] = Answer(packed, headers={"Content-Encoding": "gzip"})
        assert "at most" in refused(server.url + "/r.txt")


class TestRedirects:
    def test_one_is_followed_and_the_name_of_the_host_is_kept(self, server):
        server.routes |= {"/old": redirect("/new"), "/new": Answer(b"here")}
        assert have(server.url + "/old")[1] == b"here"
        assert server.requests[-1][1]["Host"] == server.url.removeprefix("http://")

    def test_no_credentials_go_along(self, server):
        server.routes |= {"/old": redirect(server.url + "/new"), "/new": Answer(b"here")}
        url = server.url.replace("http://", "http://me:SECRET@") + "/old"
        assert have(url)[1] == b"here"
        (_, first), (_, second) = server.requests
        assert first["Authorization"].startswith("Basic ")
        assert "Authorization" not in second
        assert "SECRET" not in str(second)

    def test_a_circle(self, server):
        server.routes["/r"] = redirect("/r")
        assert refused(server.url + "/r") == "it redirects more than 5 times"
        assert server.asked("/r") == 6

    @pytest.mark.parametrize("to", ["file:///etc/passwd", "ftp://example.org/x", "http://[::1/x"])
    def test_to_what_is_no_web_address(self, server, to):
        server.routes["/r"] = redirect(to)
        assert refused(server.url + "/r").startswith("it redirects to what cannot be fetched: ")

    def test_from_a_public_address_to_a_private_one(self, server, monkeypatch):
        async def looked_up(host, port):
            target = await target_of("127.0.0.1" if host == "public.example" else host, port)
            target.is_private &= host != "public.example"
            return target

        monkeypatch.setattr(download, "target_of", looked_up)
        port = server.url.rpartition(":")[2]
        server.routes |= {"/r": redirect(f"{server.url}/secret"), "/secret": Answer(b"secret")}
        said = refused(f"http://public.example:{port}/r")
        assert said.startswith("it redirects to '127.0.0.1', which is a private address")
        assert server.asked("/secret") == 0

    def test_to_the_address_where_clouds_tell_secrets(self, server):
        server.routes["/r"] = redirect("http://169.254.169.254/latest/meta-data")
        assert "'169.254.169.254', which is a private address" in refused(server.url + "/r")

    def test_the_address_that_was_checked_is_the_one_connected_to(self, server, monkeypatch):
        """A name may stand for another address a moment later."""

        async def looked_up(host, port):
            return Target(["127.0.0.1"])

        monkeypatch.setattr(download, "target_of", looked_up)
        server.routes["/r"] = Answer(b"here")
        port = server.url.rpartition(":")[2]
        assert have(f"http://rebinding.example:{port}/r")[1] == b"here"
        assert server.requests[0][1]["Host"] == f"rebinding.example:{port}"


class TestCache:
    def test_a_kept_copy_is_validated(self, server, cache):
        server.routes["/r.txt"] = with_etag(b"one")
        first, _ = have(server.url + "/r.txt", cache)
        second, content = have(server.url + "/r.txt", cache)
        assert (first.source, second.source, content) == ("downloaded", "kept copy, still current", b"one")
        assert second.cached_path == first.cached_path

    def test_by_date_too(self, server, cache):
        date = "Thu, 31 Dec 2009 00:00:00 GMT"

        def answer(request, _number):
            known = request.headers.get("If-Modified-Since") == date
            return Answer(status=304) if known else Answer(b"one", headers={"Last-Modified": date})

        server.routes["/r.txt"] = answer
        have(server.url + "/r.txt", cache)
        assert have(server.url + "/r.txt", cache)[0].source == "kept copy, still current"

    def test_a_changed_file_is_fetched_anew(self, server, cache):
        server.routes["/r.txt"] = with_etag(b"one", '"1"')
        have(server.url + "/r.txt", cache)
        server.routes["/r.txt"] = with_etag(b"two", '"2"')
        assert have(server.url + "/r.txt", cache)[1] == b"two"
        assert have(server.url + "/r.txt", cache)[0].source == "kept copy, still current"

    def test_the_whole_address_counts(self, server, cache):
        server.routes["/r.txt"] = lambda request, _: Answer(request.path.encode(), headers={"ETag": '"1"'})
        assert have(server.url + "/r.txt?page=1", cache)[1] == b"/r.txt?page=1"
        assert have(server.url + "/r.txt?page=2", cache)[1] == b"/r.txt?page=2"

    def test_without_a_cache_it_is_fetched_every_time(self, server):
        server.routes["/r.txt"] = with_etag(b"one")
        have(server.url + "/r.txt")
        have(server.url + "/r.txt")
        assert server.asked("/r.txt") == 2
        assert "If-None-Match" not in server.requests[1][1]

    def test_a_server_that_names_no_state(self, server, cache):
        server.routes["/r.txt"] = Answer(b"one")
        have(server.url + "/r.txt", cache)
        file, content = have(server.url + "/r.txt", cache)
        assert (content, server.asked("/r.txt")) == (b"one", 1)
        assert "neither ETag nor Last-Modified; `cache: false` fetches it anew" in file.warnings[0]

    def test_no_store_is_honoured(self, server, cache):
        server.routes["/r.txt"] = with_etag(b"one", **{"Cache-Control": "private, no-store"})
        assert have(server.url + "/r.txt", cache)[0].cached_path is None
        assert have(server.url + "/r.txt", cache)[0].source == "downloaded"

    def test_a_server_that_is_down_leaves_the_kept_copy(self, server, cache):
        server.routes["/r.txt"] = with_etag(b"one")
        have(server.url + "/r.txt", cache)
        server.routes["/r.txt"] = Answer(status=503)
        file, content = have(server.url + "/r.txt", cache)
        assert content == b"one"
        assert file.warnings[0].endswith("was used: the server answered 503 Service Unavailable")
        server.routes["/r.txt"] = Answer(status=403)
        assert refused(server.url + "/r.txt", cache) == "the server answered 403 Forbidden"

    def test_a_damaged_copy_is_not_used(self, server, cache):
        server.routes["/r.txt"] = with_etag(b"one")
        file, _ = have(server.url + "/r.txt", cache)
        file.path.write_bytes(b"on")
        assert have(server.url + "/r.txt", cache)[1] == b"one"

    def test_a_folder_that_cannot_be_written(self, server, tmp_path):
        (tmp_path / "file").write_text("in the way")
        server.routes["/r.txt"] = with_etag(b"one")
        file, content = have(server.url + "/r.txt", FileCache(tmp_path / "file" / "cache"))
        assert (content, file.cached_path) == (b"one", None)

    def test_several_runs_at_once(self, server, cache):
        """Whatever the order, nobody sees half a file, and nothing unfinished is left."""
        server.routes["/r.txt"] = lambda _, number: with_etag(b"%d" % (number % 3) * 100_000, f'"{number}"')(
            _, 1
        )

        async def main():
            async def one():
                async with fetched(server.url + "/r.txt", cache, seconds=10, max_retries=0) as file:
                    return file.path.read_bytes()

            return await asyncio.gather(*(one() for _ in range(20)))

        contents = asyncio.run(main())
        assert {len(content) for content in contents} == {100_000}
        assert all(len(set(content)) == 1 for content in contents)
        assert not list(cache.folder.rglob("part-*"))


def test_no_secret_stays_behind(server, cache, caplog):
    caplog.set_level(logging.INFO)
    server.routes |= {"/a": redirect("/b?token=SECRET-2"), "/b": with_etag(b"one")}
    have(server.url + "/a?sig=SECRET-1", cache)
    server.routes["/b"] = Answer(status=500)
    have(server.url + "/a?sig=SECRET-1", cache)
    said = refused(server.url + "/a?sig=SECRET-3")
    kept = b"".join(path.read_bytes() for path in cache.folder.rglob("*") if path.is_file())
    names = str([*cache.folder.rglob("*")])
    assert "SECRET" not in said + names + caplog.text
    assert b"SECRET" not in kept
    assert (cache.folder / ".gitignore").read_text() == "*\n"
