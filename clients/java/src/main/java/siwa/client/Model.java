package siwa.client;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.*;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A response of siwa, or a part of one. It never changes. {@link Models} has the types. */
public abstract class Model {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

    private final Map<String, Object> members;

    @SuppressWarnings("unchecked") // the names of JSON are texts
    Model(Object json) { members = Collections.unmodifiableMap((Map<String, Object>) typed(json, Map.class)); }

    /** The members by siwa's names, also those that this version does not know, for a JSON library. Times are texts. */
    public final Map<String, Object> json() { return members; }

    /** True for a model of the same type with the same members. */
    @Override
    public final boolean equals(Object other) {
        return other != null && other.getClass() == getClass() && ((Model) other).members.equals(members);
    }

    @Override
    public final int hashCode() { return members.hashCode(); }

    /** The JSON text. It can contain names and addresses, so keep it out of logs. */
    @Override
    public final String toString() { return Json.write(members); }

    /** The JSON text of those of these members that are there, for an app that does not need all. */
    public final String toString(String... names) {
        Map<String, Object> part = new LinkedHashMap<>(members);
        part.keySet().retainAll(Set.of(names));
        return Json.write(part);
    }

    /** Throws IllegalArgumentException for a missing member, or one of another type. */
    final <T> T required(String name, Function<Object, T> read) {
        return optional(name, read).orElseThrow(() -> new IllegalArgumentException(name + ": missing"));
    }

    final <T> Optional<T> optional(String name, Function<Object, T> read) {
        try {
            return Optional.ofNullable(members.get(name)).map(read);
        } catch (IllegalArgumentException error) {
            throw new IllegalArgumentException(name + ": " + error.getMessage());
        }
    }

    static String text(Object value) { return typed(value, String.class); }

    static Long integer(Object value) { return typed(value, Long.class); }

    static Boolean truth(Object value) { return typed(value, Boolean.class); }

    static Object any(Object value) { return value; }

    static Instant time(Object value) {
        try {
            return Instant.from(TIME.parse(text(value)));
        } catch (DateTimeException error) {
            throw new IllegalArgumentException("expected a time in UTC with milliseconds");
        }
    }

    static <T> Function<Object, List<T>> list(Function<Object, T> read) {
        return value -> ((List<?>) typed(value, List.class)).stream().map(read)
                .collect(Collectors.toUnmodifiableList());
    }

    /** RFC 3339 in UTC with milliseconds, as siwa writes times. */
    static String timeText(Instant time) { return TIME.format(time); }

    private static <T> T typed(Object value, Class<T> type) {
        if (!type.isInstance(value)) {
            throw new IllegalArgumentException("expected " + type.getSimpleName() + ", found "
                    + (value == null ? "null" : value.getClass().getSimpleName()));
        }
        return type.cast(value);
    }
}
