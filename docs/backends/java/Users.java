import java.nio.charset.StandardCharsets;
import java.security.*;
import java.time.Duration;
import java.time.Instant;
import java.util.*;
import java.util.function.Consumer;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import siwa.client.*;
import siwa.client.Models.*;

/**
 * The backend's own tables: its users with their sessions, and what it keeps of siwa's events. Here they are in memory, and
 * the methods are the transactions; keep those of your database.
 *
 * <p>PASSWORD_USERS: users who have a password, as user_id:name:iterations:salt:hash with salt and hash in hexadecimal,
 * separated by commas (PBKDF2 with HMAC-SHA-256).
 */
class Users implements Events.CursorStore {
    static final Duration TIME_OF_HANDLED = Duration.ofDays(8); // siwa sends an event again for seven days
    static final Session NOBODY = new Session(new User(null), null);

    static class User {
        final String id;
        volatile String accountId, teamId, sub, formerAccountId; // null for a user who has only a password
        String[] password; // its line in PASSWORD_USERS, or null

        User(String id) { this.id = id; }

        String account() { return accountId == null ? "" : accountId; }

        public String toString() {
            return "{\"user_id\":\"" + id + (accountId == null ? "\"}" : "\",\"account_id\":\"" + accountId + "\"}");
        }
    }

    static class Session {
        final User user;
        final Instant since; // null for a session that began with a password

        Session(User user, Instant since) { this.user = user; this.since = since; }
    }

    private final Set<User> users = new HashSet<>();
    private final Map<String, Session> sessions = new HashMap<>(); // by the hash of the token that the app has
    private final Map<String, Instant> revocations = new HashMap<>(); // the latest by account ID
    private final Set<String> disabled = new HashSet<>(); // account IDs
    private final Map<String, Instant> handled = new HashMap<>(); // by event ID
    private String cursor;

    Users() {
        for (String line : Objects.requireNonNullElse(System.getenv("PASSWORD_USERS"), "").split(",")) {
            String[] parts = line.split(":");
            if (parts.length == 5) {
                User user = new User(parts[0]);
                user.password = parts;
                users.add(user);
            }
        }
    }

    private static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (byte each : bytes) {
            text.append(String.format("%02x", each));
        }
        return text.toString();
    }

    private static String random() {
        byte[] bytes = new byte[32];
        new SecureRandom().nextBytes(bytes);
        return hex(bytes);
    }

    private static String hashed(String token) {
        try {
            return hex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException error) {
            throw new IllegalStateException(error);
        }
    }

    private synchronized String makeSession(User user, Instant since) {
        String token = random();
        sessions.put(hashed(token), new Session(user, since));
        return "{\"session\":\"" + token + "\",\"user_id\":\"" + user.id + "\"}";
    }

    private Session session(String token) {
        Session session = sessions.get(hashed(token));
        if (session == null) {
            throw new SiwaException("session_ended", 401); // the app gets it in the form of siwa's refusals
        }
        return session;
    }

    synchronized User of(String token) {
        User user = session(token).user;
        if (disabled.contains(user.accountId)) {
            throw new SiwaException("account_disabled", 403); // until it is enabled, when the session is good again
        }
        return user;
    }

    /** About a disabled account siwa decides, which has the URL with which Google ends linking. */
    synchronized Session appleSession(String token) {
        Session session = session(token);
        if (session.user.accountId == null) {
            throw new SiwaException("apple_account_missing", 409);
        }
        return session;
    }

    private Optional<User> withAccount(String accountId) {
        return users.stream().filter(user -> accountId.equals(user.accountId)).findFirst();
    }

    /** Makes a session. With a user, attaches the Apple Account to this user. */
    synchronized String signIn(User known, Account account, Instant since) {
        // The event of a revocation can arrive before the response of the sign-in that it revokes.
        if (!since.isAfter(revocations.getOrDefault(account.id(), Instant.MIN))) {
            throw new SiwaException("credential_revoked", 401);
        }
        // After a restore of siwa's database the same user can have another account ID, with the same sub.
        User owner = withAccount(account.id()).or(() -> users.stream().filter(user -> account.sub().equals(user.sub)
                && account.teamId().equals(user.teamId)).findFirst()).orElse(null);
        User user = known != null ? known : owner != null ? owner : new User("usr_" + random());
        // It belongs to another user, or this user has another one.
        if (owner != null && owner != user || owner == null && user.accountId != null) {
            throw new SiwaException("other_apple_account", 409);
        }
        user.formerAccountId = account.id().equals(user.accountId) ? user.formerAccountId : user.accountId;
        user.accountId = account.id();
        user.teamId = account.teamId();
        user.sub = account.sub();
        users.add(user);
        return makeSession(user, since);
    }

    private synchronized User named(String name) {
        return users.stream().filter(user -> user.password != null && user.password[1].equals(name)).findFirst().orElse(null);
    }

    String signInWithPassword(String name, String password) {
        User user = named(name);
        // Takes as long for an unknown name.
        String[] stored = user == null ? new String[] {"", "", "600000", "00", ""} : user.password;
        byte[] salt = new byte[stored[3].length() / 2];
        for (int index = 0; index < salt.length; index++) {
            salt[index] = (byte) Integer.parseInt(stored[3].substring(2 * index, 2 * index + 2), 16);
        }
        try {
            PBEKeySpec key = new PBEKeySpec(password.toCharArray(), salt, Integer.parseInt(stored[2]), 256);
            String hash = hex(SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256").generateSecret(key).getEncoded());
            if (!MessageDigest.isEqual(hash.getBytes(), stored[4].getBytes())) {
                throw new SiwaException("password_wrong", 401);
            }
        } catch (GeneralSecurityException error) {
            throw new IllegalStateException(error);
        }
        return makeSession(user, null);
    }

    /** Ends this session only: the account, the user's consent and other devices stay as they are. */
    synchronized String signOut(String token) {
        sessions.remove(hashed(token));
        return "{}";
    }

    synchronized void delete(User user) {
        users.remove(user);
        sessions.values().removeIf(session -> session.user == user);
    }

    /** Ends the sessions that are not later than the moment: the user may have signed in again. */
    synchronized void endSessions(String accountId, Instant moment, boolean evenOfPassword) {
        revocations.merge(accountId, moment, (one, other) -> one.isAfter(other) ? one : other);
        sessions.values().removeIf(session -> accountId.equals(session.user.accountId)
                && (session.since == null ? evenOfPassword : !session.since.isAfter(moment)));
    }

    /** Deletes the user of an account. A user who has a password stays, without the Apple Account. */
    synchronized void forget(String accountId) {
        disabled.remove(accountId);
        for (User user : List.copyOf(users)) {
            // A user who has signed in again since the erasure was found by sub, and is deleted here as well.
            if (!accountId.equals(user.accountId) && !accountId.equals(user.formerAccountId)) {
                continue;
            } else if (user.password == null) {
                delete(user);
            } else {
                sessions.values().removeIf(session -> session.user == user && session.since != null);
                user.accountId = user.teamId = user.sub = user.formerAccountId = null;
            }
        }
    }

    synchronized void setDisabled(String accountId, boolean isDisabled) {
        if (isDisabled) {
            disabled.add(accountId);
        } else {
            disabled.remove(accountId);
        }
    }

    synchronized void move(String accountId, String teamId, String sub) {
        withAccount(accountId).ifPresent(user -> {
            user.teamId = teamId;
            user.sub = sub;
        });
    }

    /** Apple's ID of the account's user, or null for an unknown account. */
    synchronized String subOf(String accountId) { return withAccount(accountId).map(user -> user.sub).orElse(null); }

    /** By sub: the ID of the account, and the latest `since` of the user's sessions. */
    synchronized Map<String, SiwaClient.KnownUser> withAppleAccounts() {
        Map<String, SiwaClient.KnownUser> known = new HashMap<>();
        for (User user : users) {
            Instant since = sessions.values().stream().filter(session -> session.user == user && session.since != null)
                    .map(session -> session.since).max(Comparator.naturalOrder()).orElse(null);
            if (user.sub != null) {
                known.put(user.sub, new SiwaClient.KnownUser(user.accountId, since));
            }
        }
        return known;
    }

    /** Handles the event of a webhook. A late copy is not handled again, because it could undo later events. */
    void once(Event event, Consumer<Event> handle) {
        synchronized (this) {
            if (handled.containsKey(event.id())) {
                return;
            }
        }
        handle.accept(event);
        synchronized (this) {
            handled.values().removeIf(at -> at.isBefore(Instant.now().minus(TIME_OF_HANDLED)));
            handled.put(event.id(), Instant.now());
        }
    }

    @Override
    public synchronized Optional<String> load() { return Optional.ofNullable(cursor); }

    @Override
    public synchronized void save(String end) { cursor = end; }
}
