package siwa.client;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.*;
import java.util.function.Function;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Webhooks in the form of Standard Webhooks. */
final class Webhooks {
    /** Bytes of a body. An event has some hundreds. */
    private static final int LONGEST_BODY = 65_536;
    /** Seconds by which the clocks may differ. An older message is a replay. */
    private static final int TOLERANCE = 300;

    private Webhooks() {}

    /** The keys of one secret, or of several secrets with spaces between them during a rotation. */
    static List<byte[]> keys(String secrets) {
        List<byte[]> keys = new ArrayList<>();
        for (String secret : secrets.trim().split("\\s+")) {
            byte[] key = {};
            try {
                key = Base64.getDecoder().decode(secret.startsWith("whsec_") ? secret.substring(6) : "");
            } catch (IllegalArgumentException isNoBase64) {
                // refused below, and not repeated in the message
            }
            // Anybody can sign with an empty key. The bounds are those of Standard Webhooks.
            if (key.length < 24 || key.length > 64) {
                throw new IllegalArgumentException(
                        "SIWA_WEBHOOK_SECRETS: a secret must be whsec_ and 24 to 64 bytes in base64");
            }
            keys.add(key);
        }
        return keys;
    }

    /** See {@link SiwaClient#verifyWebhook}. */
    static Models.Event verified(Function<String, String> header, byte[] rawBody, List<byte[]> keys, Instant now) {
        String id = Optional.ofNullable(header.apply("webhook-id")).orElse("");
        String timestamp = Optional.ofNullable(header.apply("webhook-timestamp")).orElse("");
        String signatures = Optional.ofNullable(header.apply("webhook-signature")).orElse("");
        if (rawBody.length > LONGEST_BODY) {
            throw new SiwaException("body_too_large", 413, "a webhook has at most " + LONGEST_BODY + " bytes");
        } else if (!id.matches("[A-Za-z0-9_-]{1,64}") || !timestamp.matches("[0-9]{1,12}") || signatures.isEmpty()) {
            throw new SiwaException("webhook_headers_invalid", 400,
                    "the headers webhook-id, webhook-timestamp and webhook-signature are needed");
        } else if (Math.abs(now.toEpochMilli() - Long.parseLong(timestamp) * 1000) > TOLERANCE * 1000) {
            throw new SiwaException("webhook_time_invalid", 400,
                    "the message is more than " + TOLERANCE + " s from now: check the clock");
        }
        boolean isSigned = false;
        for (byte[] key : keys) {
            byte[] expected = signature(key, id + "." + timestamp + ".", rawBody);
            for (String signature : signatures.split(" ")) {
                // In constant time, so that the time of a refusal reveals nothing about the signature.
                isSigned |= MessageDigest.isEqual(expected, signature.getBytes(StandardCharsets.UTF_8));
            }
        }
        if (!isSigned) {
            throw new SiwaException("webhook_signature_invalid", 401, "no signature is by a secret of this receiver");
        }
        try {
            return new Models.Event(Json.read(rawBody));
        } catch (IllegalArgumentException error) {
            throw new SiwaException("event_malformed", 400, "the body is not an event");
        }
    }

    private static byte[] signature(byte[] key, String prefix, byte[] body) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            mac.update(prefix.getBytes(StandardCharsets.UTF_8));
            return ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes(StandardCharsets.UTF_8);
        } catch (GeneralSecurityException error) {
            throw new IllegalStateException("every Java has HmacSHA256", error);
        }
    }
}
