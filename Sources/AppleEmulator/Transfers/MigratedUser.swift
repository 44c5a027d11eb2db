import StrictJSON

/// What `/auth/usermigrationinfo` tells the recipient of an app about a person.
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
