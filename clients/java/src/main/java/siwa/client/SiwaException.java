package siwa.client;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A refusal, or the lack of a usable response. Branch on {@link #code}, which never changes its meaning.
 *
 * <p>Codes with a {@link #requestId} come from siwa; docs/api.md lists them. The package makes these codes itself:
 * {@code unreachable} (no complete response in time; siwa may have executed the call), {@code unavailable} (a 5xx or 429
 * of a proxy), {@code unexpected_response} (not siwa's response: check the URL), {@code interrupted} (the thread was
 * interrupted, and stays so), and the codes that the methods name.
 */
public final class SiwaException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final String code;
    private final Integer status;
    private final String requestId;
    private final Integer retryAfter;
    private final String attestationCause;
    private final Boolean reAttest;

    /** A refusal of the backend's own, which the app gets in the same form as siwa's. */
    public SiwaException(String code, int status) { this(code, status, "a refusal of the backend"); }

    SiwaException(String code, Integer status, String detail) { this(code, status, detail, null, null, Map.of()); }

    /** A failed response with its JSON. status, requestId and retryAfter may be null. */
    SiwaException(String code, Integer status, String detail, String requestId, Integer retryAfter, Map<?, ?> json) {
        super(code + (status == null ? "" : ", status " + status) + ", " + detail.replaceFirst("\\.$", "")
                + (requestId == null ? "" : ", request " + requestId));
        this.code = code;
        this.status = status;
        this.requestId = requestId;
        this.retryAfter = retryAfter;
        attestationCause = json.get("cause") instanceof String ? (String) json.get("cause") : null;
        reAttest = json.get("re_attest") instanceof Boolean ? (Boolean) json.get("re_attest") : null;
    }

    /** The reason for a program. */
    public String code() { return code; }

    /** The HTTP status. Empty without a response. */
    public Optional<Integer> status() { return Optional.ofNullable(status); }

    /**
     * A sentence for the log, with the code, the status and the request ID. It contains no token and no key,
     * and siwa's URL only if siwa does not respond.
     */
    @Override
    public String getMessage() {
        // The fake Apple has no path of this package.
        return super.getMessage() + (isMistake() || code.equals("path_not_found") ? ", check SIWA_URL and SIWA_API_KEY" : "");
    }

    private boolean isMistake() { return code.equals("unexpected_response") || code.startsWith("caller_"); }

    /** The ID of the request in siwa's log. */
    public Optional<String> requestId() { return Optional.ofNullable(requestId); }

    /** Seconds to wait before the same call can succeed. */
    public Optional<Integer> retryAfter() { return Optional.ofNullable(retryAfter); }

    /** With {@code attestation_required} and {@code attestation_invalid}: the member {@code cause}. */
    public Optional<String> attestationCause() { return Optional.ofNullable(attestationCause); }

    /** With {@link #attestationCause}: true if the app can continue with a new key that it attests. */
    public Optional<Boolean> reAttest() { return Optional.ofNullable(reAttest); }

    /** True if the same call can succeed later. */
    public boolean isTemporary() {
        return code.equals("unreachable") || (status != null && (status == 429 || status >= 500));
    }

    /**
     * The status for the app, if a call for one of the app's requests threw this exception. A refusal keeps its status
     * and code. 503 {@code try_again} means that the app tries again later. 500 is a mistake of the backend, such as a
     * wrong API key: log it.
     */
    public int statusForApp() {
        return isTemporary() ? 503 : status == null || isMistake() ? 500 : status;
    }

    /** The JSON text for the app. See {@link #statusForApp}. */
    public String jsonForApp() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("error", statusForApp() < 500 ? code : isTemporary() ? "try_again" : "internal_error");
        if (statusForApp() < 500 && attestationCause != null) {
            members.put("cause", attestationCause);
        }
        if (statusForApp() < 500 && reAttest != null) {
            members.put("re_attest", reAttest);
        }
        return Json.write(members);
    }
}
