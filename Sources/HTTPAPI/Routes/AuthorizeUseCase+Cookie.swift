import OAuth
import SignIn

extension AuthorizeUseCase {
    /// Returns the value of `Set-Cookie` for a change of the session; `nil` without a change.
    func cookieField(for change: AuthorizeOutcome.SessionChange) -> String? {
        let secure = web.settings.isSecure ? "; Secure" : ""
        let attributes = "Path=/; HttpOnly; SameSite=Lax\(secure)"
        return switch change {
        case .keep: nil
        case .set(let value, let seconds): "\(cookieName)=\(value); Max-Age=\(seconds); \(attributes)"
        case .end: "\(cookieName)=; Max-Age=0; \(attributes)"
        }
    }
}
