import authlib_app
import pytest

SITE = "https://localhost"

pytestmark = pytest.mark.fake_apple(redirect_uris=[f"{SITE}/callback"])


@pytest.fixture
def browser(fake_apple):
    with fake_apple.in_place_of_apple():
        app = authlib_app.create_app(
            fake_apple.services_id, fake_apple.team_id, fake_apple.key_id, fake_apple.private_key
        )
        yield app.test_client()


def sign_in(browser, person, **how):
    response = person.sign_in_on_web(browser.get("/login", base_url=SITE).location, **how)
    return browser.post(response.address, data=response.form)


def test_a_person_signs_in(fake_apple, browser):
    ada = fake_apple.people.new("Ada")
    assert sign_in(browser, ada).location == "/me"
    assert browser.get("/me", base_url=SITE).json == {"sub": ada.sub}
    assert fake_apple.counters()["exchanges"] == 1


def test_a_person_cancels(fake_apple, browser):
    assert sign_in(browser, fake_apple.people.new(), cancel=True).json == {"error": "user_cancelled_authorize"}


def test_a_code_is_valid_for_five_minutes(fake_apple, browser):
    response = fake_apple.people.new().sign_in_on_web(browser.get("/login", base_url=SITE).location)
    fake_apple.clock.advance(301)
    assert browser.post(response.address, data=response.form).json == {"error": "invalid_grant"}


def test_apple_closes_the_connection(fake_apple, browser):
    fake_apple.faults.set("token", cut="before_answer", times=1)
    assert sign_in(browser, fake_apple.people.new()).status_code == 503
    assert sign_in(browser, fake_apple.people.new()).location == "/me"


def test_apple_rotates_its_keys(fake_apple, browser):
    assert sign_in(browser, fake_apple.people.new()).location == "/me"
    fake_apple.keys.rotate()
    assert sign_in(browser, fake_apple.people.new()).location == "/me"
