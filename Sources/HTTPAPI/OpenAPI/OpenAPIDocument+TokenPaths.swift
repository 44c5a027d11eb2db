extension OpenAPIDocument {
    /// Calls that take a token.
    static var tokenPaths: String {
        #"""
        paths:
          /v1/identity-tokens/verify:
            post:
              tags: [tokens]
              operationId: verifyIdentityToken
              summary: Say whom an identity token is about. Nothing is stored.
              requestBody:
                required: true
                content:
                  application/json:
                    schema: { $ref: "#/components/schemas/IdentityTokenRequest" }
              responses:
                "200":
                  description: The token is Apple's and fits.
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [identity]
                        properties:
                          identity: { $ref: "#/components/schemas/Identity" }
                "401": { $ref: "#/components/responses/Refused" }
                default: { $ref: "#/components/responses/Problem" }
          /v1/sign-ins:
            post:
              tags: [tokens]
              operationId: signIn
              summary: Verify an identity token and sign its person in. Durable when answered.
              requestBody:
                required: true
                content:
                  application/json:
                    schema: { $ref: "#/components/schemas/SignInRequest" }
              responses:
                "200":
                  description: A known person.
                  content:
                    application/json:
                      schema: { $ref: "#/components/schemas/SignInOutcome" }
                "201":
                  description: The sign-in made the account.
                  content:
                    application/json:
                      schema: { $ref: "#/components/schemas/SignInOutcome" }
                "401": { $ref: "#/components/responses/Refused" }
                "403":
                  description: "`credential_revoked`: the token is not later than the last revocation; or `caller_forbidden`."
                  content:
                    application/problem+json:
                      schema: { $ref: "#/components/schemas/Problem" }
                default: { $ref: "#/components/responses/Problem" }
          /v1/nonces:
            post:
              tags: [tokens]
              operationId: mintNonce
              summary: Mint a nonce for one sign-in.
              responses:
                "201":
                  description: The nonce, and its digest for native clients.
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [nonce, nonce_sha256, expires_at]
                        properties:
                          nonce: { type: string }
                          nonce_sha256: { type: string, pattern: "^[0-9a-f]{64}$" }
                          expires_at: { $ref: "#/components/schemas/Time" }
                default: { $ref: "#/components/responses/Problem" }

        """#
    }
}
