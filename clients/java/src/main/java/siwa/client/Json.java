package siwa.client;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Strict JSON (RFC 8259): a value is a Map, List, String, Long, Double, Boolean or null. Two members with one name are
 * refused, because two readers could see different values.
 */
final class Json {
    /** siwa's documents have fewer than ten levels. The bound keeps the stack of the thread. */
    private static final int DEEPEST = 64;
    private static final Pattern NUMBER = Pattern.compile("-?(0|[1-9][0-9]*+)(\\.[0-9]++)?([eE][+-]?[0-9]++)?");
    private static final Pattern WORD = Pattern.compile("true|false|null");
    private static final Pattern HEX = Pattern.compile("[0-9A-Fa-f]{4}");

    private final String text;
    private int at;
    private int depth;

    private Json(String text) {
        this.text = text;
    }

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
        } else if (value instanceof CharSequence) {
            StringBuilder out = new StringBuilder("\"");
            ((CharSequence) value).chars().forEach(unit -> out.append(unit < ' ' || unit > '~'
                    ? String.format("\\u%04x", unit) : (unit == '"' || unit == '\\' ? "\\" : "") + (char) unit));
            return out.append('"').toString();
        } else if (value == null || value instanceof Boolean
                || (value instanceof Number && Double.isFinite(((Number) value).doubleValue()))) {
            return String.valueOf(value);
        }
        throw new IllegalArgumentException("JSON has no value of the type " + value.getClass().getName());
    }

    private Object value() {
        require(depth < DEEPEST);
        if (take('{')) {
            return object();
        } else if (take('[')) {
            return array();
        } else if (take('"')) {
            return string();
        }
        Matcher number = NUMBER.matcher(text).region(at, text.length());
        if (number.lookingAt()) {
            at = number.end();
            return number(number.group());
        }
        Matcher word = WORD.matcher(text).region(at, text.length());
        require(word.lookingAt());
        at = word.end();
        return word.group().equals("null") ? null : Boolean.valueOf(word.group());
    }

    private Map<String, Object> object() {
        Map<String, Object> members = new LinkedHashMap<>();
        depth++;
        if (!take('}')) {
            do {
                require(take('"'));
                String name = string();
                require(take(':') && !members.containsKey(name));
                members.put(name, value());
            } while (take(','));
            require(take('}'));
        }
        depth--;
        return Collections.unmodifiableMap(members);
    }

    private List<Object> array() {
        List<Object> elements = new ArrayList<>();
        depth++;
        if (!take(']')) {
            do {
                elements.add(value());
            } while (take(','));
            require(take(']'));
        }
        depth--;
        return Collections.unmodifiableList(elements);
    }

    private String string() {
        StringBuilder out = new StringBuilder();
        for (char unit = next(); unit != '"'; unit = next()) {
            require(unit >= ' ');
            if (unit == '\\') {
                int known = "\"\\/bfnrtu".indexOf(next());
                require(known >= 0 && (known < 8 || HEX.matcher(text).region(at, text.length()).lookingAt()));
                unit = known < 8 ? "\"\\/\b\f\n\r\t".charAt(known)
                        : (char) Integer.parseInt(text.substring(at, at += 4), 16);
            }
            out.append(unit);
        }
        return out.toString();
    }

    private Object number(String digits) {
        try {
            return Long.valueOf(digits);
        } catch (NumberFormatException isNoLong) {
            double number = Double.parseDouble(digits);
            require(Double.isFinite(number));
            return number;
        }
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

    private char next() {
        require(at < text.length());
        return text.charAt(at++);
    }

    private void require(boolean condition) {
        if (!condition) {
            throw new IllegalArgumentException("not JSON at character " + at);
        }
    }
}
