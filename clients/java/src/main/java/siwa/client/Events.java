package siwa.client;

import static java.nio.file.StandardOpenOption.*;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.*;
import java.time.Duration;
import java.time.Instant;
import java.util.*;
import java.util.function.Consumer;
import siwa.client.Models.Event;
import siwa.client.Models.EventPage;

/**
 * All events in their order. The iterator waits for new events and never ends, so {@link #start} gives it a thread of its
 * own.
 *
 * <p>It saves the cursor of a page after the body of the loop has handled the page's last event. So an event can come
 * again after a crash, and none is lost: handle each event so that a second time changes nothing. An exception in the
 * loop ends the iteration without saving.
 *
 * <p>While siwa does not respond, the iterator waits and asks again with the same cursor. Errors that need a person, such
 * as {@code caller_unauthenticated}, are thrown, and {@code interrupted} after an interruption of the thread.
 *
 * <p>Without a saved cursor, and after {@code cursor_ahead} (siwa's database was restored from a backup), it begins at the
 * end of the feed. Earlier events are missed: see {@link #resync}.
 */
public final class Events implements Iterable<Event> {
    /** Seconds between two attempts while siwa does not respond, unless siwa names more. */
    private static final int LONGEST_PAUSE = 60;
    /** Seconds. */
    private static final int PAUSE_AFTER_EXCEPTION = 2;

    /** Keeps the position in the feed, best in the same database as the sessions. */
    public interface CursorStore {
        /** The saved cursor. Empty for a new backend. */
        Optional<String> load();

        /** Stores the cursor. An exception here ends the iteration, and the events come again. */
        void save(String cursor);

        /** Keeps the cursor in a file, for one process. After a crash the file has the old cursor or the new one. */
        static CursorStore file(Path path) { return new FileCursor(path); }
    }

    private final Transport transport;
    private final Transport.Clock clock;
    private final CursorStore store;
    private Runnable resync;
    private Duration wait = Duration.ofSeconds(30);
    private volatile String cursor; // null until the feed has begun
    private volatile boolean isCaughtUp;
    private volatile Instant lastResponseAt;
    private volatile boolean hasEnded;

    Events(Transport transport, Transport.Clock clock, CursorStore store) {
        this.transport = transport;
        this.clock = clock;
        this.store = store;
    }

    /**
     * Sets what the iterator calls before it begins at the end of the feed. It must read the states of all users with
     * {@link SiwaClient#missedEvents} or {@link SiwaClient#states}, and end sessions whose state is not
     * {@code authorized}. Without it, {@code cursor_ahead} is thrown.
     */
    public Events resync(Runnable readAllStates) { resync = readAllStates; return this; }

    /** Sets how long siwa keeps a request open when there is no event, in whole seconds. By default 30. */
    public Events longPoll(Duration atMost) { wait = atMost; return this; }

    /** The last saved cursor: all events before it are handled. Empty until the feed has begun. */
    public Optional<String> cursor() { return Optional.ofNullable(cursor); }

    /** True if the last page was the end of the feed. */
    public boolean isCaughtUp() { return isCaughtUp; }

    /** The time of siwa's last response. By default there is one every 30 seconds. */
    public Optional<Instant> lastResponseAt() { return Optional.ofNullable(lastResponseAt); }

    /** Throws {@code feed_not_begun} (503) until the feed has begun. Call it before each sign-in. */
    public void check() {
        if (cursor == null) {
            throw new SiwaException("feed_not_begun", 503, "the revocation of a sign-in could be missed");
        }
    }

    /**
     * Calls the function with each event, in a thread that ends with the process. After an exception it logs the
     * exception, waits two seconds, and continues at the saved cursor. With a cursor that is not siwa's, it ends, and
     * {@link #check} refuses sign-ins.
     */
    public void start(Consumer<Event> handle) { startThread(() -> forEach(handle)); }

    /**
     * Begins the feed in a thread and does not read it, for a backend with webhooks: siwa keeps the position of a webhook,
     * so the backend needs only the states from before its first start.
     */
    public void startForWebhooks() { startThread(this::begin); }

    private void startThread(Runnable work) {
        Thread thread = new Thread(() -> {
            while (true) {
                try {
                    work.run();
                    return;
                } catch (Throwable error) { // Kotlin throws any, and without this thread no session would end
                    if (hasEnded) {
                        return;
                    }
                    Transport.LOG.log(System.Logger.Level.ERROR,
                            "reading events failed; the next attempt has the same cursor", error);
                    clock.pause(PAUSE_AFTER_EXCEPTION);
                }
            }
        }, "siwa-events");
        thread.setDaemon(true);
        thread.start();
    }

    private void begin() {
        hasEnded = false;
        cursor = store.load().filter(text -> !text.isEmpty()).orElse(null);
        if (cursor().isEmpty()) {
            finish(clock.now(), nextPage());
        }
    }

    private void finish(Instant askedAt, EventPage page) {
        if (!page.cursor().equals(cursor)) {
            store.save(page.cursor());
            cursor = page.cursor();
        } else if (Duration.between(askedAt, clock.now()).toMillis() < 1000) {
            // A service that does not wait would be asked without a pause.
            clock.pause(1);
        }
        isCaughtUp = !page.hasMore();
    }

    /** Begins at the saved cursor. Only one iterator may be in use. */
    @Override
    public Iterator<Event> iterator() {
        return new Iterator<>() {
            private EventPage page;
            private Instant askedAt;
            private Iterator<Event> events = List.<Event>of().iterator();

            @Override
            public boolean hasNext() {
                while (!events.hasNext()) {
                    if (page == null) {
                        begin();
                    } else {
                        finish(askedAt, page);
                    }
                    askedAt = clock.now();
                    page = nextPage();
                    events = page.events().iterator();
                }
                return true;
            }

            @Override
            public Event next() {
                hasNext();
                return events.next();
            }
        };
    }

    /** The next page, or the end of the feed without a usable cursor. Waits until siwa responds. */
    private EventPage nextPage() {
        String after = cursor().orElse("");
        for (int failures = 0;;) {
            try {
                EventPage page = page(after.isEmpty() ? "after=latest"
                        : "after=" + SiwaClient.encoded(after) + "&wait=" + wait.toSeconds());
                // The end comes before the states, so that no change between the two is missed.
                if (after.isEmpty() && resync != null) {
                    resync.run();
                }
                lastResponseAt = clock.now();
                return page;
            } catch (SiwaException error) {
                if (error.code().equals("cursor_ahead") && resync != null && !after.isEmpty()) {
                    Transport.LOG.log(System.Logger.Level.WARNING,
                            "siwa's feed ends before the saved cursor; all states are read again");
                    after = "";
                    continue;
                }
                if (error.code().equals("parameter_malformed") && !after.isEmpty()) {
                    Transport.LOG.log(System.Logger.Level.ERROR,
                            "the feed ends; delete its cursor, and start again ({0})", error.getMessage());
                    cursor = null;
                    hasEnded = true;
                }
                if (!error.isTemporary()) {
                    throw error;
                }
                if (failures == 0) {
                    Transport.LOG.log(System.Logger.Level.WARNING,
                            "reading events failed ({0}); the next attempts have the same cursor", error.getMessage());
                }
                clock.pause(error.retryAfter().orElse(Math.min(1 << Math.min(failures++, 10), LONGEST_PAUSE)));
            }
        }
    }

    private EventPage page(String query) {
        return SiwaClient.decoded(EventPage::new, transport.send(
                new Transport.Call("GET", "/v1/events?" + query).within(wait.plusSeconds(15)).attempts(1)));
    }

    private static final class FileCursor implements CursorStore {
        private final Path path;

        FileCursor(Path path) { this.path = path; }

        @Override
        public Optional<String> load() {
            try {
                // An editor ends a file with a line break.
                return Files.exists(path) ? Optional.of(Files.readString(path).strip()) : Optional.empty();
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }

        @Override
        public void save(String cursor) {
            try {
                Path fresh = path.resolveSibling(path.getFileName() + ".new");
                Files.writeString(fresh, cursor, CREATE, TRUNCATE_EXISTING, WRITE, SYNC);
                Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE);
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }
    }
}
