"""Several organisers, and programs with keys of their own: named, and taken back one by one."""

import pytest
from typer.testing import CliRunner

from epivote.cli import app as command
from epivote.web.store import Store, open_database
from epivote.web.store.credentials import add_credential, credentials, revoke_credential, whose_secret
from in_process import visitor
from one_moment import still_app
from small_quiz import write_quiz


@pytest.fixture
def app(tmp_path):
    with still_app(tmp_path) as made:
        yield made


def kept_in(app):
    return app.state.site.store.database


def signed_in(app, secret):
    client = visitor(app)
    assert client.get(f"/organiser?secret={secret}").status_code == 303
    return client


def test_secrets_are_kept_as_hashes_and_taken_back(database):
    kept = open_database(database)
    maria, robot = add_credential(kept, "organiser", "Maria"), add_credential(kept, "program", "Maria")
    assert add_credential(kept, "organiser", "Maria") is None
    assert [name for name, _ in credentials(kept, "organiser")] == ["Maria"]
    assert whose_secret(kept, "organiser", maria)[0] == "Maria"
    assert whose_secret(kept, "organiser", robot) is None, "a key opens no page"
    with kept.reading() as connection:
        assert maria not in str(connection.exec_driver_sql("SELECT * FROM credentials").all())
    assert revoke_credential(kept, "organiser", "Maria")
    assert not revoke_credential(kept, "organiser", "Maria")
    assert whose_secret(kept, "organiser", maria) is None
    assert whose_secret(kept, "program", robot) is not None
    kept.close()


def test_secrets_are_listed_by_name_each_with_its_moment(database, monkeypatch):
    kept, moments = open_database(database), {"Omar": 7, "Zoe": 8, "Ann": 9}
    for name, moment in moments.items():
        monkeypatch.setattr("epivote.web.store.credentials.now", lambda moment=moment: moment)
        add_credential(kept, "program", name)
    assert credentials(kept, "program") == [("Ann", 9), ("Omar", 7), ("Zoe", 8)]
    assert credentials(kept, "organiser") == []
    kept.close()


def test_a_revoked_organiser_is_out_at_once_and_the_others_stay(app):
    maria = signed_in(app, add_credential(kept_in(app), "organiser", "Maria"))
    omar = signed_in(app, add_credential(kept_in(app), "organiser", "Omar"))
    first = signed_in(app, app.state.site.secrets.organiser)
    assert "Signed in as <bdi>Maria</bdi>." in maria.get("/organiser").text
    assert "Signed in as" not in first.get("/organiser").text
    revoke_credential(kept_in(app), "organiser", "Maria")
    assert maria.get("/organiser/live").status_code == 403
    assert [each.get("/organiser/live").status_code for each in (omar, first)] == [200, 200]
    add_credential(kept_in(app), "organiser", "Maria")
    assert maria.get("/organiser/live").status_code == 403, "an old session does not come back with a new secret"


def test_replacing_the_first_secret_leaves_the_others_signed_in(app):
    maria = signed_in(app, add_credential(kept_in(app), "organiser", "Maria"))
    first = signed_in(app, app.state.site.secrets.organiser)
    app.state.site.store.renew_secret("organiser")
    assert (first.get("/organiser/live").status_code, maria.get("/organiser/live").status_code) == (403, 200)


def test_a_wrong_secret_lets_nobody_in(app):
    add_credential(kept_in(app), "organiser", "Maria")
    for secret in ("x", "", "Maria", "\ud800".encode("utf-8", "replace").decode()):
        assert visitor(app).get("/organiser", params={"secret": secret}).status_code == 403


def test_a_program_votes_only_under_its_own_name(app):
    key = add_credential(kept_in(app), "program", "Robot")
    robot = visitor(app, authorization=f"Bearer {key}")
    address = "/api/v1/voters/{}/ballots/barn"
    assert robot.get("/api/v1/task").status_code == 200
    assert robot.put(address.format("Robot"), json={"ticks": ["owl"]}).status_code == 200
    refused = robot.put(address.format("other"), json={"ticks": ["owl"]})
    assert refused.status_code == 403
    assert refused.json() == {
        "error": "this key is for the voter 'Robot'; vote under that name, or ask for another key"
    }
    assert robot.delete("/api/v1/voters/other").status_code == 403
    assert [each.name for each in app.state.site.store.participants()] == ["Robot"]
    revoke_credential(kept_in(app), "program", "Robot")
    assert robot.get("/api/v1/task").status_code == 401


def test_a_key_of_an_organiser_is_no_key_of_a_program(app):
    secret = add_credential(kept_in(app), "organiser", "Maria")
    assert visitor(app, authorization=f"Bearer {secret}").get("/api/v1/task").status_code == 401


def run(*arguments):
    return CliRunner().invoke(command, ["collect", *map(str, arguments)])


@pytest.mark.parametrize("kind", ["organiser", "key"])
def test_the_commands(tmp_path, kind):
    quiz = write_quiz(tmp_path)
    Store(open_database(f"sqlite:///{quiz.with_suffix('.db')}")).database.close()
    assert run(kind, quiz).stdout.splitlines()[1:] == ["  none"]
    made = run(kind, quiz, "--add", "Maria").stdout
    assert made.startswith("Maria: http://127.0.0.1:8000/organiser?secret=" if kind == "organiser" else "Maria: ")
    assert "  Maria, since 20" in run(kind, quiz).stdout
    for given, told in (
        (["--add", "Maria"], "'Maria' already exists; revoke it first"),
        (["--add", " x"], "--add ' x' cannot be a name"),
        (["--revoke", "Omar"], "there is no 'Omar' to revoke"),
        (["--add", "a", "--revoke", "b"], "--add and --revoke cannot be used together; choose one"),
    ):
        refused = run(kind, quiz, *given)
        assert (refused.exit_code, told in refused.stderr) == (1, True), refused.stderr
    assert run(kind, quiz, "--revoke", "Maria").stdout == "'Maria' is revoked.\n"
    assert run(kind, quiz).stdout.splitlines()[1:] == ["  none"]
