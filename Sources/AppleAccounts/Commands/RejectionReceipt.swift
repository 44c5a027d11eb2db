/// What the refusal of a refresh token meant.
public enum RejectionReceipt: Sendable, Hashable {
    /// The credential is revoked from this moment on, and its tokens are gone.
    case revoked
    /// The token is gone. Its authorization had been revoked before, so the refusal is no news.
    case dropped
    /// It was not the token that is held, so it says nothing about the credential.
    case ignored
}
