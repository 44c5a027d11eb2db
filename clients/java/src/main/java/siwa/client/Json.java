package siwa.client;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Strict JSON (RFC 8259): a value is a Map, List, String, Long, Double, Boolean or null. Two members with one name are
 * refused, because two readers could see different values.
 */
final class Json {
    /** siwa's documents have fewer than ten levels. The bound keeps the stack of the thread. */
    private static final int DEEPEST = 64;

    private final String text;
    private int at;

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
        Object value = json.value(0);
        json.skipSpace();
        if (json.at != text.length()) {
            throw json.malformed();
        }
        return value;
    }

    /** ASCII with escapes, so that a half of a surrogate pair in an app's form cannot make the encoding fail. */
    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof Map) {
            String separator = "{";
            for (Map.Entry<?, ?> member : ((Map<?, ?>) value).entrySet()) {
                out.append(separator);
                write(String.valueOf(member.getKey()), out);
                out.append(':');
                write(member.getValue(), out);
                separator = ",";
            }
            out.append(separator.equals("{") ? "{}" : "}");
        } else if (value instanceof Iterable) {
            String separator = "[";
            for (Object element : (Iterable<?>) value) {
                out.append(separator);
                write(element, out);
                separator = ",";
            }
            out.append(separator.equals("[") ? "[]" : "]");
        } else if (value instanceof CharSequence) {
            out.append('"');
            ((CharSequence) value).chars().forEach(character -> {
                if (character == '"' || character == '\\') {
                    out.append('\\').append((char) character);
                } else if (character < ' ' || character > '~') {
                    out.append(String.format("\\u%04x", character));
                } else {
                    out.append((char) character);
                }
            });
            out.append('"');
        } else if (value == null || value instanceof Boolean
                || (value instanceof Number && Double.isFinite(((Number) value).doubleValue()))) {
            out.append(value);
        } else {
            throw new IllegalArgumentException("JSON has no value of the type " + value.getClass().getName());
        }
    }

    private Object value(int depth) {
        skipSpace();
        switch (next()) {
            case '{':
                return object(depth + 1);
            case '[':
                return array(depth + 1);
            case '"':
                return string();
            case 't':
                return word("true", true);
            case 'f':
                return word("false", false);
            case 'n':
                return word("null", null);
            default:
                at--;
                return number();
        }
    }

    private Map<String, Object> object(int depth) {
        Map<String, Object> members = new LinkedHashMap<>();
        for (boolean ends = begins('}', depth); !ends; ends = ends('}')) {
            skipSpace();
            expect('"');
            String name = string();
            skipSpace();
            expect(':');
            Object value = value(depth);
            if (members.containsKey(name)) {
                throw malformed();
            }
            members.put(name, value);
        }
        return Collections.unmodifiableMap(members);
    }

    private List<Object> array(int depth) {
        List<Object> elements = new ArrayList<>();
        for (boolean ends = begins(']', depth); !ends; ends = ends(']')) {
            elements.add(value(depth));
        }
        return Collections.unmodifiableList(elements);
    }

    /** After the opening bracket. Returns true if the closing one follows at once. */
    private boolean begins(char closing, int depth) {
        if (depth > DEEPEST) {
            throw malformed();
        }
        skipSpace();
        if (at < text.length() && text.charAt(at) == closing) {
            at++;
            return true;
        }
        return false;
    }

    /** After an element. Returns true for the closing bracket, false for a comma. */
    private boolean ends(char closing) {
        skipSpace();
        if (at < text.length() && text.charAt(at) == closing) {
            at++;
            return true;
        }
        expect(',');
        return false;
    }

    private String string() {
        StringBuilder out = new StringBuilder();
        while (true) {
            char character = next();
            if (character == '"') {
                return out.toString();
            } else if (character < ' ') {
                throw malformed();
            } else if (character != '\\') {
                out.append(character);
            } else {
                char escape = next();
                int known = "\"\\/bfnrt".indexOf(escape);
                if (known >= 0) {
                    out.append("\"\\/\b\f\n\r\t".charAt(known));
                } else if (escape == 'u') {
                    int unit = 0;
                    for (int digit = 0; digit < 4; digit++) {
                        char hex = next();
                        // Character.digit also knows the digits of other scripts.
                        if (hex > 'f' || Character.digit(hex, 16) < 0) {
                            throw malformed();
                        }
                        unit = unit * 16 + Character.digit(hex, 16);
                    }
                    out.append((char) unit);
                } else {
                    throw malformed();
                }
            }
        }
    }

    private Object number() {
        int start = at;
        while (at < text.length() && "+-.0123456789Ee".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String digits = text.substring(start, at);
        if (!digits.matches("-?(0|[1-9][0-9]*+)(\\.[0-9]++)?([eE][+-]?[0-9]++)?")) {
            throw malformed();
        }
        try {
            return Long.valueOf(digits);
        } catch (NumberFormatException isNoLong) {
            double number = Double.parseDouble(digits);
            if (Double.isInfinite(number)) {
                throw malformed();
            }
            return number;
        }
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at - 1)) {
            throw malformed();
        }
        at += word.length() - 1;
        return value;
    }

    private void skipSpace() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char next() {
        if (at == text.length()) {
            throw malformed();
        }
        return text.charAt(at++);
    }

    private void expect(char character) {
        if (next() != character) {
            throw malformed();
        }
    }

    private IllegalArgumentException malformed() {
        return new IllegalArgumentException("not JSON at character " + at);
    }
}
