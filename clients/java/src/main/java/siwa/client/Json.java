package siwa.client;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.*;
import java.util.regex.*;
import java.util.stream.Collectors;

/**
 * Strict JSON (RFC 8259): a value is a Map, List, String, Long, Double, Boolean or null. Two members with one name are
 * refused, because two readers could see different values.
 */
final class Json {
    /** siwa's documents have fewer than ten levels. The bound keeps the stack of the thread. */
    private static final int DEEPEST = 64;
    private static final Pattern SCALAR =
            Pattern.compile("true|false|null|-?(0|[1-9][0-9]*+)(\\.[0-9]++)?([eE][+-]?[0-9]++)?");
    private static final Pattern CHARACTER = Pattern.compile("[^\"\\\\\\x00-\\x1f]|\\\\([\"\\\\/bfnrt]|u[0-9A-Fa-f]{4})");

    private final String text;
    private int at;
    private int depth;

    private Json(String text) { this.text = text; }

    /** Reads one value in UTF-8. Throws IllegalArgumentException. */
    static Object read(byte[] bytes) {
        try {
            return read(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
        } catch (CharacterCodingException error) {
            throw new IllegalArgumentException("the text is not UTF-8");
        }
    }

    /** Reads one value. Throws IllegalArgumentException. */
    static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.require(!json.take('\0') && json.at == text.length());
        return value;
    }

    /** ASCII with escapes, so that a half of a surrogate pair in an app's form cannot make the encoding fail. */
    static String write(Object value) {
        if (value instanceof Map) {
            return ((Map<?, ?>) value).entrySet().stream()
                    .map(member -> write(String.valueOf(member.getKey())) + ":" + write(member.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
        } else if (value instanceof Collection) {
            return ((Collection<?>) value).stream().map(Json::write).collect(Collectors.joining(",", "[", "]"));
        } else if (value instanceof Instant) {
            return write(Model.timeText((Instant) value));
        } else if (value instanceof CharSequence) {
            return ((CharSequence) value).chars().mapToObj(unit -> unit < ' ' || unit > '~'
                    ? String.format("\\u%04x", unit) : (unit == '"' || unit == '\\' ? "\\" : "") + (char) unit)
                    .collect(Collectors.joining("", "\"", "\""));
        } else if (value == null || value instanceof Boolean
                || value instanceof Number && Double.isFinite(((Number) value).doubleValue())) {
            return String.valueOf(value);
        }
        throw new IllegalArgumentException("JSON has no value of the type " + value.getClass().getName());
    }

    private Object value() {
        if (take('{')) {
            Map<String, Object> members = new LinkedHashMap<>();
            each('}', () -> {
                require(take('"'));
                String name = string();
                require(take(':') && !members.containsKey(name));
                members.put(name, value());
            });
            return Collections.unmodifiableMap(members);
        } else if (take('[')) {
            List<Object> elements = new ArrayList<>();
            each(']', () -> elements.add(value()));
            return Collections.unmodifiableList(elements);
        } else if (take('"')) {
            return string();
        }
        String scalar = matched(SCALAR);
        if (scalar.equals("null")) {
            return null;
        } else if (scalar.endsWith("e")) {
            return Boolean.valueOf(scalar);
        }
        try {
            return Long.valueOf(scalar);
        } catch (NumberFormatException isNoLong) {
            require(Double.isFinite(Double.parseDouble(scalar)));
            return Double.valueOf(scalar);
        }
    }

    private void each(char end, Runnable read) {
        require(++depth < DEEPEST);
        if (!take(end)) {
            do {
                read.run();
            } while (take(','));
            require(take(end));
        }
        depth--;
    }

    /** The text up to the quotation mark, which it skips. */
    private String string() {
        StringBuilder out = new StringBuilder();
        while (!text.startsWith("\"", at)) {
            String unit = matched(CHARACTER);
            int escape = unit.length() == 1 ? -1 : "bfnrtu".indexOf(unit.charAt(1));
            out.append(unit.length() == 1 ? unit.charAt(0) : escape < 0 ? unit.charAt(1) : escape < 5
                    ? "\b\f\n\r\t".charAt(escape) : (char) Integer.parseInt(unit.substring(2), 16));
        }
        at++;
        return out.toString();
    }

    private String matched(Pattern pattern) {
        Matcher match = pattern.matcher(text).region(at, text.length());
        require(match.lookingAt());
        at = match.end();
        return match.group();
    }

    /** Skips space. Returns true after the character, which it skips too. */
    private boolean take(char character) {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        boolean isThere = at < text.length() && text.charAt(at) == character;
        at += isThere ? 1 : 0;
        return isThere;
    }

    private void require(boolean condition) {
        if (!condition) {
            throw new IllegalArgumentException("not JSON at character " + at);
        }
    }
}
