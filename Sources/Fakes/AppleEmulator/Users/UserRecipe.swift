/// The properties of a new user. The defaults are useful for a first trial.
public struct UserRecipe: Sendable {
    /// The `sub` for the first team. Default: a random `sub` in Apple's format.
    public var subject: String?
    public var email = RecipeAddress.derived
    public var isEmailVerified = true
    public var hidesEmail = false
    public var firstName: String? = "Jane"
    public var lastName: String? = "Appleseed"
    public var realUserStatus: Int64? = 2

    public init() {}
}

/// The changes of a user. Apps learn a new name only from a user who has stopped using them.
public struct UserEdit: Sendable {
    public var firstName: String?
    public var lastName: String?
    public var hidesEmail: Bool
    public var realUserStatus: Int64?

    /// The values of now.
    public init(_ user: EmulatedUser) {
        (firstName, lastName) = (user.firstName, user.lastName)
        (hidesEmail, realUserStatus) = (user.hidesEmail, user.realUserStatus)
    }
}

/// The e-mail address of a new user.
public enum RecipeAddress: Sendable, Equatable {
    /// A unique address from the name or the user's number.
    case derived
    case none
    /// Uses this address.
    case given(String)
}
