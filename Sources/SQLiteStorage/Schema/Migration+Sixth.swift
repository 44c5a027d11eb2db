extension Migration {
    /// Distinguishes an address of which nothing is known from one that Apple called no relay.
    ///
    /// Until here both were 0 in `email_is_private`. That column cannot become NULL beside an address, so a
    /// second one says what is known; what it does not say of an older row is unknown. Addresses under
    /// Apple's relay domains are relays: some tokens have one without the claim.
    static let sixth = Migration(
        number: 6,
        sql: """
            -- 1 where Apple said that the address is no relay. Without it, email_is_private = 0 says nothing.
            ALTER TABLE subject ADD COLUMN email_is_not_private INTEGER CHECK (email_is_not_private = 1);

            -- LIKE ignores the case of ASCII letters, and only of these.
            UPDATE subject SET email_is_private = 1
            WHERE email_is_private = 0
                AND (email LIKE '%@privaterelay.appleid.com' OR email LIKE '%@private.icloud.com');
            """)
}
