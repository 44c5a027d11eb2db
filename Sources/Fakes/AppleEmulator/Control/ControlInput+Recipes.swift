import EmulatorServer
import StrictJSON

/// Reads the members of control requests into the emulator's types.
extension ControlInput {
    mutating func user() throws(EmulatorError) -> UserRecipe {
        var recipe = UserRecipe()
        if let subject = try string("sub", maximum: 255) {
            // The subject becomes part of paths, so it must not need escaping.
            guard !subject.isEmpty, subject.utf8.allSatisfy(Self.isUnreserved) else {
                throw EmulatorError(
                    .memberMalformed, detail: "sub: letters, digits, dots, hyphens and underscores")
            }
            recipe.subject = subject
        }
        if let email = try string("email", maximum: 320) {
            recipe.email = email.isEmpty ? .none : .given(email)
        }
        if let isVerified = try bool("email_verified") { recipe.isEmailVerified = isVerified }
        if let hides = try bool("hide_email") { recipe.hidesEmail = hides }
        if let name = try string("first_name") { recipe.firstName = name.isEmpty ? nil : name }
        if let name = try string("last_name") { recipe.lastName = name.isEmpty ? nil : name }
        if let status = try integer("real_user_status", in: -1...2) {
            recipe.realUserStatus = status < 0 ? nil : status
        }
        return recipe
    }

    mutating func identityToken() throws(EmulatorError) -> IdentityTokenRecipe {
        var recipe = IdentityTokenRecipe()
        recipe.subject = try string("sub", maximum: 255)
        recipe.clientID = try string("client_id")
        recipe.nonce = try string("nonce", maximum: 8192)
        recipe.authorizationCode = try secret("code")
        recipe.redirectURI = try string("redirect_uri", maximum: 2048)
        guard recipe.redirectURI == nil || recipe.authorizationCode != .none else {
            throw EmulatorError(.memberIneffective, detail: "redirect_uri: needs code")
        }
        recipe.accessToken = try secret("access_token")
        recipe.times = try times()
        recipe.authenticatedAt = try integer("auth_time", in: TokenTimes.bounds)
        recipe.includesUser = try bool("include_user")
        recipe.forgery = try forgery()
        return recipe
    }

    /// Reads a notification. `subject` is set if the path contains it.
    mutating func notification(subject: String? = nil) throws(EmulatorError) -> NotificationRecipe {
        var recipe = NotificationRecipe()
        recipe.type = try string("type", maximum: 255)
        recipe.subject = if let subject { subject } else { try string("sub", maximum: 255) }
        recipe.clientID = try string("client_id")
        recipe.eventTime = try integer("event_time")
        if let unit = try word("event_time_unit", EventTimeUnit.self) {
            guard recipe.eventTime == nil else {
                throw EmulatorError(
                    .memberIneffective, detail: "event_time_unit: has no effect together with event_time")
            }
            recipe.eventTimeUnit = unit
        }
        if let form = try word("events_form", EventsForm.self) { recipe.eventsForm = form }
        if let event = try object("event") { recipe.event = event }
        if let names = try strings("remove_event_members") { recipe.removedEventMembers = names }
        recipe.times = try times()
        recipe.forgery = try forgery()
        return recipe
    }

    mutating func clientSecret() throws(EmulatorError) -> ClientSecretRecipe {
        var recipe = ClientSecretRecipe()
        recipe.clientID = try string("client_id")
        recipe.teamID = try string("team_id")
        recipe.keyID = try string("kid")
        if let offset = try integer(
            "time_offset", in: -TokenTimes.bounds.upperBound...TokenTimes.bounds.upperBound)
        {
            recipe.times.offset = offset
        }
        if let lifetime = try integer("lifetime", in: 0...TokenTimes.bounds.upperBound) {
            recipe.times.lifetime = lifetime
        }
        return recipe
    }

    mutating func clientKey() throws(EmulatorError) -> ClientKeyRecipe {
        ClientKeyRecipe(
            keyID: try string("kid"), pem: try string("pem", maximum: 4096), jwk: try object("jwk"))
    }

    mutating func fault() throws(EmulatorError) -> EndpointFault {
        var fault = EndpointFault()
        if let delay = try integer("delay_ms", in: 0...EndpointFault.maximumDelay) {
            fault.delayMilliseconds = delay
        }
        fault.status = try integer("status", in: 200...599).map { Int($0) }
        fault.body = try word("body", FaultBody.self)
        fault.cut = try word("cut", ConnectionCut.self)
        fault.cacheControl = try string("cache_control")
        if let cacheControl = fault.cacheControl, !cacheControl.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) {
            throw EmulatorError(.memberMalformed, detail: "cache_control: printable ASCII")
        }
        if let isSent = try bool("etag") { fault.hidesEntityTag = !isSent }
        fault.doesWork = try bool("work")
        fault.remainingRequests = try integer("times", in: 1...1_000_000).map { Int($0) }
        return fault
    }

    private mutating func times() throws(EmulatorError) -> TokenTimes {
        var times = TokenTimes()
        let spans = -TokenTimes.bounds.upperBound...TokenTimes.bounds.upperBound
        if let offset = try integer("time_offset", in: spans) { times.offset = offset }
        times.issuedAt = try integer("iat", in: TokenTimes.bounds)
        guard times.issuedAt == nil || times.offset == 0 else {
            throw EmulatorError(.memberIneffective, detail: "time_offset: has no effect together with iat")
        }
        if let lifetime = try integer("lifetime", in: spans) { times.lifetime = lifetime }
        return times
    }

    private mutating func forgery() throws(EmulatorError) -> Forgery {
        var forgery = Forgery()
        if let claims = try object("claims") { forgery.claims = claims }
        if let names = try strings("remove_claims") { forgery.removedClaims = names }
        if let header = try object("header") { forgery.header = header }
        if let names = try strings("remove_header") { forgery.removedHeader = names }
        if let algorithm = try word("alg", ForgedAlgorithm.self) { forgery.algorithm = algorithm }
        forgery.keyID = try string("kid")
        if let signature = try word("signature", SignatureKind.self) { forgery.signature = signature }
        return forgery
    }

    /// Reads a secret: `true` generates one, and a string is used unchanged.
    private mutating func secret(_ name: String) throws(EmulatorError) -> BoundSecret {
        switch try value(name, .combined("anyOf", [["type": "string"], ["type": "boolean"]])) {
        case nil, .bool(false)?: return .none
        case .bool(true)?: return .made
        case .string(let secret)?: return .given(secret)
        case .null?, .integer?, .number?, .array?, .object?:
            throw EmulatorError(.memberMalformed, detail: "\(name): a string, or true to generate one")
        }
    }

    /// Returns true if the character never needs escaping in a URL (RFC 3986 §2.3). Excludes the tilde.
    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// A team's public or private key, or a new key if there is neither.
struct ClientKeyRecipe: Sendable {
    let keyID: String?
    let pem: String?
    let jwk: JSONObject?

    func key(of teamID: String) throws(EmulatorError) -> ClientKey {
        switch (pem, jwk) {
        case (nil, nil): return try .generate(teamID: teamID, keyID: keyID)
        case (let pem?, nil):
            return try ClientKey(teamID: teamID, keyID: keyID ?? ClientKey.newKeyID(), pem: pem)
        case (nil, let jwk?):
            return try ClientKey(
                teamID: teamID, keyID: keyID ?? jwk["kid"]?.string ?? ClientKey.newKeyID(), jwk: jwk)
        case (_?, _?): throw EmulatorError(.memberMalformed, detail: "pem or jwk, not both")
        }
    }
}
