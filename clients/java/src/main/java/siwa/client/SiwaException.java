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
    private final String detail;
    private final Integer status;
    private String requestId;
    private Integer retryAfter;
    private String reason;
    private Boolean reAttest;

    SiwaException(String code, Integer status, String detail) {
        this.code = code;
        this.status = status;
        this.detail = detail;
    }

    /** A failed response of siwa. The arguments may be null. */
    SiwaException(String code, Integer status, String detail, String requestId, Integer retryAfter, Object reason,
            Object reAttest) {
        this(code, status, detail);
        this.requestId = requestId;
        this.retryAfter = retryAfter;
        this.reason = reason instanceof String ? (String) reason : null;
        this.reAttest = reAttest instanceof Boolean ? (Boolean) reAttest : null;
    }

    /** The reason for a program. */
    public String code() {
        return code;
    }

    /** The HTTP status. Empty without a response. */
    public Optional<Integer> status() {
        return Optional.ofNullable(status);
    }

    /** A sentence for the log, with the code, the status and the request ID. It contains no token, address or key. */
    @Override
    public String getMessage() {
        return code + (status == null ? "" : ", status " + status) + ", " + detail
                + (requestId == null ? "" : ", request " + requestId);
    }

    /** The ID of the request in siwa's log. */
    public Optional<String> requestId() {
        return Optional.ofNullable(requestId);
    }

    /** Seconds to wait before the same call can succeed. */
    public Optional<Integer> retryAfter() {
        return Optional.ofNullable(retryAfter);
    }

    /** With {@code attestation_required} and {@code attestation_invalid}: the member {@code cause}. */
    public Optional<String> attestationCause() {
        return Optional.ofNullable(reason);
    }

    /** With {@link #attestationCause}: true if the app can continue with a new key that it attests. */
    public Optional<Boolean> reAttest() {
        return Optional.ofNullable(reAttest);
    }

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
        if (isTemporary()) {
            return 503;
        }
        return status == null || code.equals("unexpected_response") || code.startsWith("caller_") ? 500 : status;
    }

    /** The JSON text for the app. See {@link #statusForApp}. */
    public String jsonForApp() {
        Map<String, Object> members = new LinkedHashMap<>();
        boolean isRefusal = statusForApp() < 500;
        members.put("error", isRefusal ? code : isTemporary() ? "try_again" : "internal_error");
        if (isRefusal && reason != null) {
            members.put("cause", reason);
        }
        if (isRefusal && reAttest != null) {
            members.put("re_attest", reAttest);
        }
        return Json.write(members);
    }
}
