import com.sun.net.httpserver.*;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import siwa.client.*;
import siwa.client.Models.*;

/**
 * The backend's part of Sign in with Apple, with the JDK's server and siwa-client. Users.java has the backend's own tables.
 *
 * <p>Environment: SIWA_URL, SIWA_API_KEY, SIWA_CLIENT_ID (the app's bundle ID), and HOST and PORT to listen at, 127.0.0.1
 * and 8000 by default. With SIWA_WEBHOOK_SECRETS, events come to POST /siwa, and not from the feed.
 */
class App {
    static final Users users = new Users();
    static SiwaClient siwa;
    static Events feed;

    static Object route(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readNBytes(65_537);
        Form form = Form.of(new String(body, StandardCharsets.UTF_8));
        Headers headers = exchange.getRequestHeaders();
        String session = Objects.requireNonNullElse(headers.getFirst("Authorization"), "").replaceFirst("^Bearer ", "");
        String[] path = exchange.getRequestURI().getRawPath().split("(?=grt_[0-9a-f-]{1,64}$)");
        switch (exchange.getRequestMethod() + " " + path[0] + (path.length > 1 ? "ID" : "")) {
            case "POST /nonce": return siwa.makeNonce();
            case "POST /signin": return signIn(session, form);
            case "POST /password": return users.signInWithPassword(form.text("name"), form.text("password"));
            case "GET /me": return users.of(session);
            case "POST /signout": return users.signOut(session);
            case "DELETE /account": return delete(users.of(session));
            case "POST /app-attest/challenges": return siwa.makeChallenge(form.text("purpose"));
            case "POST /app-attest/keys": return siwa.registerKey(form);
            case "POST /google-link": return googleLink(session, form, form.text("decision"));
            case "GET /links":
                return "{\"links\":" + unlessGone(() -> siwa.grants(users.of(session).account()), "[]") + "}";
            case "DELETE /links/ID": return unlink(users.of(session).account(), path[1]);
            case "POST /siwa": if (hasWebhooks()) return webhook(headers, body);
        }
        throw new SiwaException("not_found", 404);
    }

    /** With a session, attaches the Apple Account to the user of the session. */
    static Object signIn(String session, Form form) {
        feed.check();
        Users.User user = session.isEmpty() ? null : users.of(session);
        SignInOutcome outcome = siwa.signIn(form);
        return users.signIn(user, outcome.account(), outcome.credential().since().orElseThrow());
    }

    static Object delete(Users.User user) {
        Object report = unlessGone(() -> siwa.delete(user.account()).toString("user_must_revoke", "instructions"), "{}");
        users.delete(user);
        return report;
    }

    /** The fallback if siwa no longer has the account or the grant, or if the user has only a password. */
    static Object unlessGone(Supplier<Object> call, Object fallback) {
        try {
            return call.get();
        } catch (SiwaException error) {
            if (error.code().equals("account_not_found") || error.code().equals("grant_not_found")) {
                return fallback;
            }
            throw error;
        }
    }

    /** Without a decision, returns what the app asks the user. With a decision, returns the URL to open. */
    static Object googleLink(String session, Form form, String decision) {
        // The account is that of the session, never one that the app names. A user who refuses need not be known.
        boolean isKnown = decision.equals("granted") || decision.isEmpty() && !session.isEmpty();
        Users.Session known = isKnown ? users.appleSession(session) : Users.NOBODY;
        return decision.isEmpty() ? siwa.appFlipPrompt(form, known.user.accountId, known.since)
                : siwa.appFlip(form, known.user.accountId, known.since);
    }

    static Object unlink(String accountId, String link) {
        return unlessGone(() -> {
            siwa.endGrant(accountId, link);
            return "{}";
        }, "{}");
    }

    /** Handles one event. After a crash the same event can come again. */
    static void handle(Event event) {
        String account = event.accountId().orElse("");
        String type = event.type();
        if (type.equals(EventType.CREDENTIAL_REVOKED)
                && event.clientId().equals(Optional.of(variable("SIWA_CLIENT_ID", "")))) {
            users.endSessions(account, event.occurredAt(), false);
        } else if (type.equals(EventType.SESSIONS_ENDED)) { // everywhere, also where the session began with a password
            users.endSessions(account, event.occurredAt(), true);
        } else if (type.equals(EventType.ACCOUNT_DISABLED) || type.equals(EventType.ACCOUNT_ENABLED)) {
            users.setDisabled(account, type.equals(EventType.ACCOUNT_DISABLED));
        } else if (type.equals(EventType.ACCOUNT_DELETED)) {
            String sub = users.subOf(account);
            // The user may have kept the Apple Account and signed in again.
            if (sub != null && !siwa.state(sub).state().equals(CredentialState.AUTHORIZED)) {
                unlessGone(() -> siwa.delete(account), null);
                users.forget(account);
            }
        } else if (type.equals(EventType.ACCOUNT_ERASED)) {
            users.forget(account);
        } else if (type.equals(EventType.ACCOUNT_TRANSFERRED)) { // to another team, where the user has another sub
            users.move(account, event.teamId(), event.sub().orElse(null));
        }
    }

    /** siwa gets 2xx when everything is stored, and sends the event again otherwise. */
    static Object webhook(Headers headers, byte[] body) {
        Event event = siwa.verifyWebhook(headers::getFirst, body);
        feed.check(); // the states that are being read can be older than the event
        users.once(event, App::handle);
        return "{}";
    }

    static void respond(HttpExchange exchange) throws IOException {
        int status = 200;
        String text;
        try {
            text = route(exchange).toString();
        } catch (SiwaException error) {
            status = error.statusForApp();
            text = error.jsonForApp();
            System.err.println(exchange.getRequestURI().getPath() + ": " + error.getMessage());
        } catch (RuntimeException error) {
            status = 500;
            text = "{\"error\":\"internal_error\"}";
            error.printStackTrace();
        }
        byte[] response = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.getResponseHeaders().set("Cache-Control", "no-store");
        exchange.sendResponseHeaders(status, response.length);
        exchange.getResponseBody().write(response);
        exchange.close();
    }

    static String variable(String name, String standard) {
        return Optional.ofNullable(System.getenv(name)).filter(value -> !value.isEmpty()).orElse(standard);
    }

    static boolean hasWebhooks() { return !variable("SIWA_WEBHOOK_SECRETS", "").isEmpty(); }

    public static void main(String[] arguments) throws IOException {
        try {
            siwa = SiwaClient.fromEnvironment();
            siwa.check();
        } catch (RuntimeException error) {
            System.err.println("cannot start: " + error.getMessage());
            System.exit(1);
        }
        feed = siwa.events(users).resync(() -> siwa.missedEvents(users.withAppleAccounts()).forEach(App::handle));
        if (hasWebhooks()) {
            feed.startForWebhooks();
        } else {
            feed.start(App::handle);
        }
        HttpServer server = HttpServer.create(new InetSocketAddress(
                variable("HOST", "127.0.0.1"), Integer.parseInt(variable("PORT", "8000"))), 0);
        server.createContext("/", App::respond);
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
        System.out.println("listening on " + server.getAddress());
    }
}
