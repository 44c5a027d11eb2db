import AppleAccounts

/// A sign-in whose token was verified, and which is not committed yet.
public struct CheckedSignIn: Sendable {
    let command: SignInCommand
    let scope: AppScope
}
