/// The e-mail address that a user is to have.
public enum RecipeAddress: Sendable, Equatable {
    /// One that no other user has, from the name or from the user's number.
    case derived
    case none
    /// Taken as it is.
    case given(String)
}
