package siwa.client;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.ECFieldFp;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.security.spec.RSAPublicKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import siwa.client.Models.IntrospectionResponse;

/** OAuth access tokens (RFC 9068) of one issuer, verified by siwa's public keys, which it keeps. */
final class AccessTokens {
    /** Characters. siwa's access tokens have about 700. */
    private static final int LONGEST_TOKEN = 16_384;
    /** Seconds by which the clocks may differ. */
    private static final long LEEWAY = 60;
    /** Seconds for which a key set is used, and for which it is used while siwa does not respond. */
    private static final long FRESH = 3_600;
    private static final long STALE = 86_400;
    /** Seconds between two requests for keys: anybody can invent key IDs. */
    private static final long COOL_DOWN = 60;
    private static final long PAUSE_AFTER_FAILURE = 5;

    private static final ECParameterSpec P256 = p256();
    private static final Pattern BEARER = Pattern.compile("bearer +([A-Za-z0-9._~+/-]+=*)", Pattern.CASE_INSENSITIVE);

    /** The token in the header {@code Authorization} (RFC 6750 section 2.1). Throws {@code token_missing}. */
    static String bearerToken(String authorization) {
        Matcher match = BEARER.matcher(authorization == null ? "" : authorization);
        if (!match.matches()) {
            throw new SiwaException("token_missing", 401, "the request needs the header Authorization: Bearer TOKEN");
        }
        return match.group(1);
    }

    /** Throws {@code audience_mismatch} or {@code scope_missing}. */
    static void checkAudienceAndScopes(IntrospectionResponse token, String audience, Collection<String> scopes) {
        if (!token.aud().filter(audience::equals).isPresent()) {
            throw refused("audience_mismatch", "the token is for another API");
        }
        TreeSet<String> missing = new TreeSet<>(scopes);
        missing.removeAll(List.of(token.scope().orElse("").split(" ")));
        if (!missing.isEmpty()) {
            throw new SiwaException("scope_missing", 403, "the token lacks the scope " + String.join(" ", missing));
        }
    }

    /** The keys of one response, by their IDs. */
    private static final class KeySet {
        final Map<String, PublicKey> keys;
        final Instant fetchedAt;

        KeySet(Map<String, PublicKey> keys, Instant fetchedAt) {
            this.keys = keys;
            this.fetchedAt = fetchedAt;
        }

        PublicKey key(String kid, Instant now, long seconds) {
            return isWithin(fetchedAt, now, seconds) ? keys.get(kid) : null;
        }
    }

    private final Transport transport;
    private final String issuer;
    private final Transport.Clock clock;
    private final ReentrantLock fetching = new ReentrantLock();
    private volatile KeySet known = new KeySet(Map.of(), Instant.MIN);
    private Instant triedAt = Instant.MIN; // only by the owner of the lock

    AccessTokens(Transport transport, String issuer, Transport.Clock clock) {
        this.transport = transport;
        this.issuer = issuer;
        this.clock = clock;
    }

    /** See {@link SiwaClient#verifyToken}. */
    IntrospectionResponse verified(String token, String audience, Collection<String> scopes) {
        if (token.length() > LONGEST_TOKEN) {
            throw refused("token_too_large", "a token has at most " + LONGEST_TOKEN + " characters");
        }
        String[] segments = token.split("\\.", -1);
        if (segments.length != 3) {
            throw malformed("a token has three segments");
        }
        Map<?, ?> header = object(segments[0]);
        byte[] signature = bytes(segments[2]);
        // These change what is signed, or where the key comes from.
        if (List.of("crit", "b64", "jwk", "jku", "x5u", "x5c").stream().anyMatch(header::containsKey)) {
            throw refused("header_not_allowed", "the header has a parameter that siwa never writes");
        }
        Object algorithm = header.get("alg");
        if (!"ES256".equals(algorithm) && !"RS256".equals(algorithm)) {
            throw refused("algorithm_not_allowed", "the algorithm must be ES256 or RS256");
        }
        // An ID token of the same issuer is no access token.
        String type = String.valueOf(header.get("typ")).toLowerCase(Locale.ROOT);
        if (!type.equals("at+jwt") && !type.equals("application/at+jwt")) {
            throw refused("not_an_access_token", "the typ of an access token is at+jwt");
        }
        Object kid = header.get("kid");
        if (!(kid instanceof String) || ((String) kid).isEmpty() || ((String) kid).length() > 64) {
            throw refused("key_id_invalid", "the kid must be a text of 1 to 64 characters");
        }
        PublicKey key = key((String) kid);
        // The key decides about the algorithm, and the token cannot choose another one.
        if (!algorithm.equals(key.getAlgorithm().equals("EC") ? "ES256" : "RS256")) {
            throw refused("algorithm_not_allowed", "the key is for another algorithm");
        }
        if (!isSigned(key, signature, segments[0] + "." + segments[1])) {
            throw refused("signature_invalid", "the signature is not by the key that the kid names");
        }
        return checked(object(segments[1]), audience, scopes);
    }

    private IntrospectionResponse checked(Map<?, ?> claims, String audience, Collection<String> scopes) {
        for (String name : List.of("iss", "aud", "sub", "client_id", "iat", "exp", "jti")) {
            if (!claims.containsKey(name)) {
                throw refused("claim_missing", "the token lacks " + name);
            }
        }
        if (!issuer.equals(claims.get("iss"))) {
            throw refused("issuer_mismatch", "the token is of another issuer: check SIWA_ISSUER");
        }
        // The only audience is a text. An array is not siwa's.
        if (!audience.equals(claims.get("aud"))) {
            throw refused("audience_mismatch", "the token is for another API");
        }
        long expires = seconds(claims.get("exp"));
        long issued = seconds(claims.get("iat"));
        long begins = claims.containsKey("nbf") ? seconds(claims.get("nbf")) : 0;
        Map<String, Object> members = new LinkedHashMap<>();
        claims.forEach((name, value) -> members.put((String) name, value));
        members.put("active", true);
        members.put("token_type", "Bearer");
        IntrospectionResponse token;
        try {
            token = new IntrospectionResponse(members);
        } catch (IllegalArgumentException error) {
            throw refused("claim_malformed", error.getMessage());
        }
        if (token.sub().orElse("").isEmpty()) {
            throw refused("claim_malformed", "the sub is empty");
        }
        long now = clock.now().getEpochSecond();
        if (now >= expires + LEEWAY) {
            throw refused("token_expired", "the token has expired");
        }
        if (begins > now + LEEWAY) {
            throw refused("token_not_yet_valid", "the token is not valid yet");
        }
        if (issued > now + LEEWAY) {
            throw refused("issued_in_future", "the token is of the future: check the clock");
        }
        checkAudienceAndScopes(token, audience, scopes);
        return token;
    }

    private static long seconds(Object claim) {
        if (!(claim instanceof Long) || (Long) claim < 0 || (Long) claim >= 1L << 53) {
            throw refused("claim_malformed", "a time has another type, or is out of range");
        }
        return (Long) claim;
    }

    private PublicKey key(String kid) {
        PublicKey key = known.key(kid, clock.now(), FRESH);
        if (key != null) {
            return key;
        }
        // One request at a time. A caller with a known key does not wait for it.
        key = known.key(kid, clock.now(), STALE);
        if (key == null) {
            fetching.lock();
        } else if (!fetching.tryLock()) {
            return key;
        }
        try {
            Instant now = clock.now();
            boolean hasFailed = !triedAt.equals(known.fetchedAt);
            if (known.key(kid, now, FRESH) == null
                    && !isWithin(triedAt, now, hasFailed ? PAUSE_AFTER_FAILURE : COOL_DOWN)) {
                triedAt = now;
                try {
                    known = new KeySet(fetched(), now);
                    hasFailed = false;
                } catch (SiwaException error) {
                    hasFailed = true; // the old keys stay
                }
            }
            key = known.key(kid, now, STALE);
            if (key != null) {
                return key;
            } else if (hasFailed) {
                long pause = Math.max(1, PAUSE_AFTER_FAILURE - Duration.between(triedAt, now).toSeconds());
                throw new SiwaException("keys_unavailable", 503, "siwa's keys could not be fetched", null, (int) pause,
                        Map.of());
            }
            throw refused("unknown_key", "siwa has no key with this kid");
        } finally {
            fetching.unlock();
        }
    }

    /** False also for a clock that was set back, so that old keys do not stay for ever. */
    private static boolean isWithin(Instant past, Instant now, long seconds) {
        return !now.isBefore(past) && now.minusSeconds(seconds).isBefore(past);
    }

    private Map<String, PublicKey> fetched() {
        Map<?, ?> response = transport.send(new Transport.Call("GET", "/oauth/jwks.json").withoutKey()
                .within(Duration.ofSeconds(5)).attempts(1));
        Map<String, PublicKey> keys = new HashMap<>();
        Object entries = response == null ? null : response.get("keys");
        for (Object entry : entries instanceof List ? (List<?>) entries : List.of()) {
            try {
                Map<?, ?> members = (Map<?, ?>) entry;
                keys.put(Model.text(members.get("kid")), usable(members));
            } catch (GeneralSecurityException | RuntimeException error) {
                // a key of another kind
            }
        }
        if (keys.isEmpty()) {
            throw new SiwaException("unexpected_response", 200, "the key set has no usable key");
        }
        return keys;
    }

    /** A key for signatures. Throws for any other. */
    private static PublicKey usable(Map<?, ?> entry) throws GeneralSecurityException {
        List<Object> kind = Arrays.asList(entry.get("kty"), entry.get("alg"), entry.get("use"));
        if (kind.equals(List.of("EC", "ES256", "sig")) && "P-256".equals(entry.get("crv"))) {
            ECPoint point = new ECPoint(number(entry, "x"), number(entry, "y"));
            BigInteger prime = ((ECFieldFp) P256.getCurve().getField()).getP();
            BigInteger right = point.getAffineX().pow(3).add(P256.getCurve().getA().multiply(point.getAffineX()))
                    .add(P256.getCurve().getB());
            // Java accepts points that are not on the curve.
            if (point.getAffineX().max(point.getAffineY()).compareTo(prime) < 0
                    && point.getAffineY().pow(2).subtract(right).mod(prime).signum() == 0) {
                return KeyFactory.getInstance("EC").generatePublic(new ECPublicKeySpec(point, P256));
            }
        } else if (kind.equals(List.of("RSA", "RS256", "sig"))) {
            BigInteger modulus = number(entry, "n");
            if (modulus.bitLength() >= 2048 && number(entry, "e").equals(BigInteger.valueOf(65_537))) {
                return KeyFactory.getInstance("RSA")
                        .generatePublic(new RSAPublicKeySpec(modulus, BigInteger.valueOf(65_537)));
            }
        }
        throw new GeneralSecurityException("a key of another kind");
    }

    private static boolean isSigned(PublicKey key, byte[] signature, String message) {
        try {
            boolean isEc = key.getAlgorithm().equals("EC");
            // Java 15 to 18 accept zeros for any message (CVE-2022-21449).
            if (isEc && (signature.length != 64 || !isScalar(signature, 0) || !isScalar(signature, 32))) {
                return false;
            }
            Signature verifier = Signature.getInstance(isEc ? "SHA256withECDSAinP1363Format" : "SHA256withRSA");
            verifier.initVerify(key);
            verifier.update(message.getBytes(StandardCharsets.US_ASCII));
            return verifier.verify(signature);
        } catch (GeneralSecurityException error) {
            return false;
        }
    }

    private static boolean isScalar(byte[] signature, int start) {
        BigInteger number = new BigInteger(1, Arrays.copyOfRange(signature, start, start + 32));
        return number.signum() > 0 && number.compareTo(P256.getOrder()) < 0;
    }

    private static ECParameterSpec p256() {
        try {
            AlgorithmParameters parameters = AlgorithmParameters.getInstance("EC");
            parameters.init(new ECGenParameterSpec("secp256r1"));
            return parameters.getParameterSpec(ECParameterSpec.class);
        } catch (GeneralSecurityException error) {
            throw new IllegalStateException("verifyToken needs the module jdk.crypto.ec", error);
        }
    }

    private static BigInteger number(Map<?, ?> entry, String name) {
        return new BigInteger(1, bytes(Model.text(entry.get(name))));
    }

    /** Strict base64url (RFC 7515 section 2): no padding, no other alphabet, no stray bits. */
    private static byte[] bytes(String segment) {
        try {
            byte[] bytes = Base64.getUrlDecoder().decode(segment);
            if (bytes.length > 0 && Base64.getUrlEncoder().withoutPadding().encodeToString(bytes).equals(segment)) {
                return bytes;
            }
        } catch (IllegalArgumentException error) {
            // refused below
        }
        throw malformed("a segment is not base64url");
    }

    private static Map<?, ?> object(String segment) {
        try {
            return (Map<?, ?>) Json.read(bytes(segment));
        } catch (IllegalArgumentException | ClassCastException error) {
            throw malformed("a segment is not a JSON object");
        }
    }

    private static SiwaException malformed(String detail) {
        return refused("token_malformed", "not a signed token: " + detail);
    }

    private static SiwaException refused(String code, String detail) {
        return new SiwaException(code, 401, detail);
    }
}
