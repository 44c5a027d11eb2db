import SignIn
import StrictJSON

extension IdentityTokenRequest {
    /// Reads the body of `POST /v1/identity-tokens/verify`.
    init(parsing bytes: [UInt8]) throws(Problem) {
        var body = try RequestBody(bytes)
        var token = Draft()
        while let name = try body.next() {
            guard try token.read(name, from: &body) else { throw Problem.unknownMember(name) }
        }
        self = try token.finished()
    }

    /// The members that both requests with an identity token share.
    struct Draft {
        private var identityToken: String?
        private var nonce: String?
        private var clientID: String?
        private var authorizationCode: String?
        private var accessToken: String?
        private var evidence = AppEvidence()

        /// Returns `false`, and reads nothing, for any other member.
        mutating func read(_ name: JSONName, from body: inout RequestBody) throws(Problem) -> Bool {
            switch name {
            case "identity_token": identityToken = try body.string("identity_token")
            case "nonce": nonce = try body.string("nonce")
            case "client_id": clientID = try body.string("client_id")
            case "authorization_code": authorizationCode = try body.string("authorization_code")
            case "access_token": accessToken = try body.string("access_token")
            case "attestation": evidence.proof = try body.value().map { PostedProof($0) }
            case "app_version": evidence.appVersion = try body.string("app_version")
            default: return false
            }
            return true
        }

        /// Throws `member_missing`.
        func finished() throws(Problem) -> IdentityTokenRequest {
            guard let identityToken else {
                throw Problem(.memberMissing, subject: .member("identity_token"))
            }
            return IdentityTokenRequest(
                identityToken: identityToken, nonce: nonce, clientID: clientID,
                authorizationCode: authorizationCode, accessToken: accessToken, evidence: evidence)
        }
    }
}
