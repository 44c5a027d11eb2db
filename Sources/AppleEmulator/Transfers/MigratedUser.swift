import StrictJSON

/// The response of `/auth/usermigrationinfo` for the recipient of an app.
struct MigratedUser: Equatable {
    let subject: String
    let email: String?
    let isPrivateEmail: Bool

    var json: JSONObject {
        var json = JSONObject([("sub", .string(subject))])
        json["email"] = email.map { .string($0) }
        if email != nil, isPrivateEmail { json["is_private_email"] = .bool(true) }
        return json
    }
}
