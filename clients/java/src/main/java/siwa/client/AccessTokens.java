package siwa.client;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.*;
import java.security.interfaces.ECPublicKey;
import java.security.spec.*;
import java.time.Duration;
import java.time.Instant;
import java.util.*;
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
    /** A key of P-256 in DER, up to the two coordinates (RFC 5480 section 2). */
    private static final byte[] P256 = Base64.getDecoder().decode("MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE");

    private static final Pattern BEARER = Pattern.compile("bearer +([A-Za-z0-9._~+/-]+=*)", Pattern.CASE_INSENSITIVE);

    /** The token in the header {@code Authorization} (RFC 6750 section 2.1). Throws {@code token_missing}. */
    static String bearerToken(String authorization) {
        Matcher match = BEARER.matcher(authorization == null ? "" : authorization);
        require(match.matches(), "token_missing", "the request needs the header Authorization: Bearer TOKEN");
        return match.group(1);
    }

    /** Throws {@code audience_mismatch} or {@code scope_missing}. */
    static void checkAudienceAndScopes(IntrospectionResponse token, String audience, Collection<String> scopes) {
        require(token.aud().equals(Optional.of(audience)), "audience_mismatch", "the token is for another API");
        TreeSet<String> missing = new TreeSet<>(scopes);
        missing.removeAll(List.of(token.scope().orElse("").split(" ")));
        if (!missing.isEmpty()) {
            throw new SiwaException("scope_missing", 403, "the token lacks the scope " + String.join(" ", missing));
        }
    }

    private static void require(boolean condition, String code, String detail) {
        if (!condition) {
            throw new SiwaException(code, 401, detail);
        }
    }

    private final Transport transport;
    private final String issuer;
    private final Transport.Clock clock;
    private final ReentrantLock fetching = new ReentrantLock();
    /** Written by the owner of the lock, the time after its keys. */
    private volatile Map<String, PublicKey> keys = Map.of();
    private volatile Instant fetchedAt = Instant.MIN;
    private Instant triedAt = Instant.MIN;

    AccessTokens(Transport transport, String issuer, Transport.Clock clock) {
        this.transport = transport;
        this.issuer = issuer;
        this.clock = clock;
    }

    /** See {@link SiwaClient#verifyToken}. */
    IntrospectionResponse verified(String token, String audience, Collection<String> scopes) {
        require(token.length() <= LONGEST_TOKEN, "token_too_large", "a token has at most " + LONGEST_TOKEN + " characters");
        String[] segments = token.split("\\.", -1);
        require(segments.length == 3, "token_malformed", "a token has three segments");
        Map<?, ?> header = object(segments[0]);
        byte[] signature = bytes(segments[2]);
        // These change what is signed, or where the key comes from.
        require(List.of("crit", "b64", "jwk", "jku", "x5u", "x5c").stream().noneMatch(header::containsKey),
                "header_not_allowed", "the header has a parameter that siwa never writes");
        Object algorithm = header.get("alg");
        require("ES256".equals(algorithm) || "RS256".equals(algorithm),
                "algorithm_not_allowed", "the algorithm must be ES256 or RS256");
        // An ID token of the same issuer is no access token.
        require(List.of("at+jwt", "application/at+jwt").contains(String.valueOf(header.get("typ")).toLowerCase(Locale.ROOT)),
                "not_an_access_token", "the typ of an access token is at+jwt");
        Object kid = header.get("kid");
        require(kid instanceof String && ((String) kid).matches("(?s).{1,64}"),
                "key_id_invalid", "the kid must be a text of 1 to 64 characters");
        PublicKey key = key((String) kid);
        // The key decides about the algorithm, and the token cannot choose another one.
        require(algorithm.equals(key instanceof ECPublicKey ? "ES256" : "RS256"),
                "algorithm_not_allowed", "the key is for another algorithm");
        require(isSigned(key, signature, segments[0] + "." + segments[1]),
                "signature_invalid", "the signature is not by the key that the kid names");
        return checked(object(segments[1]), audience, scopes);
    }

    private IntrospectionResponse checked(Map<?, ?> claims, String audience, Collection<String> scopes) {
        for (String name : List.of("iss", "aud", "sub", "client_id", "iat", "exp", "jti")) {
            require(claims.containsKey(name), "claim_missing", "the token lacks " + name);
        }
        require(issuer.equals(claims.get("iss")), "issuer_mismatch", "the token is of another issuer: check SIWA_ISSUER");
        // The only audience is a text. An array is not siwa's.
        require(audience.equals(claims.get("aud")), "audience_mismatch", "the token is for another API");
        long expires = seconds(claims.get("exp"));
        long issued = seconds(claims.get("iat"));
        long begins = claims.containsKey("nbf") ? seconds(claims.get("nbf")) : 0;
        Map<Object, Object> members = new LinkedHashMap<>(claims);
        members.put("active", true);
        members.put("token_type", "Bearer");
        IntrospectionResponse token;
        try {
            token = new IntrospectionResponse(members);
        } catch (IllegalArgumentException error) {
            throw new SiwaException("claim_malformed", 401, error.getMessage());
        }
        require(!token.sub().orElse("").isEmpty(), "claim_malformed", "the sub is empty");
        long now = clock.now().getEpochSecond();
        require(now < expires + LEEWAY, "token_expired", "the token has expired");
        require(begins <= now + LEEWAY, "token_not_yet_valid", "the token is not valid yet");
        require(issued <= now + LEEWAY, "issued_in_future", "the token is of the future: check the clock");
        checkAudienceAndScopes(token, audience, scopes);
        return token;
    }

    private static long seconds(Object claim) {
        require(claim instanceof Long && (Long) claim >= 0 && (Long) claim < 1L << 53,
                "claim_malformed", "a time has another type, or is out of range");
        return (Long) claim;
    }

    private PublicKey key(String kid) {
        PublicKey key = known(kid, FRESH);
        if (key != null) {
            return key;
        }
        // One request at a time. A caller with a known key does not wait for it.
        key = known(kid, STALE);
        if (key == null) {
            fetching.lock();
        } else if (!fetching.tryLock()) {
            return key;
        }
        try {
            Instant now = clock.now();
            boolean hasFailed = !triedAt.equals(fetchedAt);
            if (known(kid, FRESH) == null && !isWithin(triedAt, hasFailed ? PAUSE_AFTER_FAILURE : COOL_DOWN)) {
                triedAt = now;
                try {
                    keys = fetched();
                    fetchedAt = now;
                    hasFailed = false;
                } catch (SiwaException error) {
                    hasFailed = true; // the old keys stay
                }
            }
            key = known(kid, STALE);
            if (key == null && hasFailed) {
                long pause = Math.max(1, PAUSE_AFTER_FAILURE - Duration.between(triedAt, now).toSeconds());
                throw new SiwaException("keys_unavailable", 503, "siwa's keys could not be fetched", null, (int) pause,
                        Map.of());
            }
            require(key != null, "unknown_key", "siwa has no key with this kid");
            return key;
        } finally {
            fetching.unlock();
        }
    }

    private PublicKey known(String kid, long seconds) { return isWithin(fetchedAt, seconds) ? keys.get(kid) : null; }

    /** False also for a clock that was set back, so that old keys do not stay for ever. */
    private boolean isWithin(Instant past, long seconds) {
        Instant now = clock.now();
        return !now.isBefore(past) && now.minusSeconds(seconds).isBefore(past);
    }

    private Map<String, PublicKey> fetched() {
        Map<?, ?> response = transport.send(new Transport.Call("GET", "/oauth/jwks.json").withoutKey()
                .within(Duration.ofSeconds(5)).attempts(1));
        Map<String, PublicKey> usable = new HashMap<>();
        Object entries = response == null ? null : response.get("keys");
        for (Object entry : entries instanceof List ? (List<?>) entries : List.of()) {
            try {
                usable.put(Model.text(((Map<?, ?>) entry).get("kid")), usable((Map<?, ?>) entry));
            } catch (GeneralSecurityException | RuntimeException error) {
                // a key of another kind
            }
        }
        require(!usable.isEmpty(), "unexpected_response", "the key set has no usable key");
        return usable;
    }

    /** A key for signatures. Throws for any other. */
    private static PublicKey usable(Map<?, ?> entry) throws GeneralSecurityException {
        List<Object> kind = Arrays.asList(entry.get("kty"), entry.get("alg"), entry.get("use"), entry.get("crv"));
        if (kind.equals(List.of("EC", "ES256", "sig", "P-256"))) {
            ByteBuffer der = ByteBuffer.allocate(P256.length + 64).put(P256)
                    .put(bytes(entry.get("x"))).put(bytes(entry.get("y")));
            ECPublicKey key = (ECPublicKey) KeyFactory.getInstance("EC").generatePublic(new X509EncodedKeySpec(der.array()));
            EllipticCurve curve = key.getParams().getCurve();
            BigInteger prime = ((ECFieldFp) curve.getField()).getP();
            BigInteger x = key.getW().getAffineX();
            BigInteger y = key.getW().getAffineY();
            BigInteger right = x.pow(3).add(curve.getA().multiply(x)).add(curve.getB());
            // Java accepts points that are not on the curve.
            if (!der.hasRemaining() && x.max(y).compareTo(prime) < 0 && y.pow(2).subtract(right).mod(prime).signum() == 0) {
                return key;
            }
        } else if (kind.subList(0, 3).equals(List.of("RSA", "RS256", "sig"))) {
            BigInteger modulus = new BigInteger(1, bytes(entry.get("n")));
            BigInteger exponent = new BigInteger(1, bytes(entry.get("e")));
            if (modulus.bitLength() >= 2048 && exponent.equals(BigInteger.valueOf(65_537))) {
                return KeyFactory.getInstance("RSA").generatePublic(new RSAPublicKeySpec(modulus, exponent));
            }
        }
        throw new GeneralSecurityException("a key of another kind");
    }

    private static boolean isSigned(PublicKey key, byte[] signature, String message) {
        try {
            if (key instanceof ECPublicKey) {
                BigInteger order = ((ECPublicKey) key).getParams().getOrder();
                // Java 15 to 18 accept zeros for any message (CVE-2022-21449).
                if (signature.length != 64 || new BigInteger(1, Arrays.copyOf(signature, 32)).mod(order).signum() == 0
                        || new BigInteger(1, Arrays.copyOfRange(signature, 32, 64)).mod(order).signum() == 0) {
                    return false;
                }
            }
            Signature verifier = Signature.getInstance(
                    key instanceof ECPublicKey ? "SHA256withECDSAinP1363Format" : "SHA256withRSA");
            verifier.initVerify(key);
            verifier.update(message.getBytes(StandardCharsets.US_ASCII));
            return verifier.verify(signature);
        } catch (GeneralSecurityException error) {
            return false;
        }
    }

    /** Strict base64url (RFC 7515 section 2): no padding, no other alphabet, no stray bits. */
    private static byte[] bytes(Object segment) {
        try {
            byte[] bytes = Base64.getUrlDecoder().decode(Model.text(segment));
            if (bytes.length > 0 && Base64.getUrlEncoder().withoutPadding().encodeToString(bytes).equals(segment)) {
                return bytes;
            }
        } catch (IllegalArgumentException error) {
            // refused below
        }
        throw new SiwaException("token_malformed", 401, "a segment is not base64url");
    }

    private static Map<?, ?> object(String segment) {
        try {
            return (Map<?, ?>) Objects.requireNonNull(Json.read(bytes(segment)));
        } catch (IllegalArgumentException | ClassCastException | NullPointerException error) {
            throw new SiwaException("token_malformed", 401, "a segment is not a JSON object");
        }
    }
}
