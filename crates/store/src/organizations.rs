use serde::Serialize;
use sqlx::{AnyConnection, Row};

use crate::{Named, Store, StoreError};

/// Organizations that one account may own or be a member of.
const MEMBERSHIPS_MAX: i64 = 50;
/// Members of one organization.
const MEMBERS_MAX: i64 = 500;

/// What a member may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Publishes on the organization's behalf, and says who else does.
    Owner,
    /// Publishes on the organization's behalf.
    Member,
}

impl Role {
    /// The name as it stands in columns and forms.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Owner => "owner",
            Role::Member => "member",
        }
    }

    /// The role with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Role> {
        [Role::Owner, Role::Member]
            .into_iter()
            .find(|role| role.as_str() == name)
    }
}

/// An account in an organization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Member {
    /// Name of the account.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// ms since 1970.
    pub since_ms: i64,
}

/// An organization of an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Membership {
    /// Its page and its name.
    pub organization: Named,
    /// What the account may do.
    pub role: Role,
}

/// What is to become of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberChange {
    /// Is one from now on.
    Add,
    /// May do this from now on.
    SetRole(Role),
    /// Is none any more. Anybody may do that to themselves.
    Remove,
}

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberChanged {
    /// It holds.
    Done,
    /// Only owners change members.
    NotOwner,
    /// There is no account of this name.
    NoAccount,
    /// It is a member already.
    AlreadyMember,
    /// It is no member.
    NotMember,
    /// Nobody would own the organization.
    LastOwner,
    /// There are as many members, or memberships, as there may be.
    TooMany,
}

/// What became of a new organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrganizationCreated {
    /// It is there, and its maker owns it.
    Done,
    /// Another one has this slug.
    Taken,
    /// The account has as many memberships as it may have.
    TooMany,
}

impl Store {
    /// Makes an organization that an account owns.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn create_organization(
        &self,
        named: &Named,
        owner_key: i64,
        now_ms: i64,
    ) -> Result<OrganizationCreated, StoreError> {
        let mut transaction = self.begin_account_change().await?;
        let row = sqlx::query(
            "INSERT INTO organizations (slug, name, created_at_ms) VALUES ($1, $2, $3) \
             ON CONFLICT DO NOTHING RETURNING organization_key",
        )
        .bind(&named.slug)
        .bind(&named.name)
        .bind(now_ms)
        .fetch_optional(&mut *transaction)
        .await?;
        let Some(row) = row else {
            return Ok(OrganizationCreated::Taken);
        };
        if membership_count(&mut transaction, owner_key).await? >= MEMBERSHIPS_MAX {
            return Ok(OrganizationCreated::TooMany);
        }
        let organization_key: i64 = row.try_get("organization_key")?;
        join(
            &mut transaction,
            organization_key,
            owner_key,
            Role::Owner,
            now_ms,
        )
        .await?;
        transaction.commit().await?;
        Ok(OrganizationCreated::Done)
    }

    /// Members of an organization, owners first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn members(&self, slug: &str) -> Result<Vec<Member>, StoreError> {
        let rows = sqlx::query(
            "SELECT accounts.name AS account_name, role, since_ms FROM members \
             JOIN organizations ON organizations.organization_key = members.organization_key \
             JOIN accounts ON accounts.account_key = members.account_key \
             WHERE slug = $1 ORDER BY role DESC, accounts.name",
        )
        .bind(slug)
        .fetch_all(&self.read)
        .await?;
        rows.iter()
            .map(|row| {
                Ok(Member {
                    name: row.try_get("account_name")?,
                    role: role(row)?,
                    since_ms: row.try_get("since_ms")?,
                })
            })
            .collect()
    }

    /// Organizations of an account, by name.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn memberships(&self, account_key: i64) -> Result<Vec<Membership>, StoreError> {
        let rows = sqlx::query(
            "SELECT slug, organizations.name AS organization_name, role FROM members \
             JOIN organizations ON organizations.organization_key = members.organization_key \
             WHERE account_key = $1 ORDER BY organizations.name, slug",
        )
        .bind(account_key)
        .fetch_all(&self.read)
        .await?;
        rows.iter()
            .map(|row| {
                Ok(Membership {
                    organization: Named {
                        slug: row.try_get("slug")?,
                        name: row.try_get("organization_name")?,
                    },
                    role: role(row)?,
                })
            })
            .collect()
    }

    /// The organization with this slug, if the account may publish on its behalf.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn organization_for_publishing(
        &self,
        account_key: i64,
        slug: &str,
    ) -> Result<Option<i64>, StoreError> {
        let row = sqlx::query(
            "SELECT organizations.organization_key FROM organizations JOIN members \
             ON members.organization_key = organizations.organization_key \
             WHERE slug = $1 AND account_key = $2",
        )
        .bind(slug)
        .bind(account_key)
        .fetch_optional(&self.read)
        .await?;
        Ok(row.map(|row| row.try_get("organization_key")).transpose()?)
    }

    /// Changes a member of an organization, on behalf of an account. Whether that may
    /// do it is decided with the change: nothing comes between.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn change_member(
        &self,
        slug: &str,
        by_account_key: i64,
        name: &str,
        change: MemberChange,
        now_ms: i64,
    ) -> Result<MemberChanged, StoreError> {
        let mut transaction = self.begin_account_change().await?;
        // Written first, so that changes of one organization come one after the other.
        let row = sqlx::query(
            "UPDATE organizations SET name = name WHERE slug = $1 RETURNING organization_key",
        )
        .bind(slug)
        .fetch_optional(&mut *transaction)
        .await?;
        let Some(row) = row else {
            return Ok(MemberChanged::NotOwner);
        };
        let organization_key: i64 = row.try_get("organization_key")?;
        let account = sqlx::query("SELECT account_key FROM accounts WHERE name = $1")
            .bind(name)
            .fetch_optional(&mut *transaction)
            .await?;
        let account_key: Option<i64> = account.map(|row| row.try_get("account_key")).transpose()?;
        let is_own = account_key == Some(by_account_key) && change == MemberChange::Remove;
        let by = role_of(&mut transaction, organization_key, by_account_key).await?;
        if by != Some(Role::Owner) && !is_own {
            return Ok(MemberChanged::NotOwner);
        }
        let Some(account_key) = account_key else {
            return Ok(MemberChanged::NoAccount);
        };
        let place = Place {
            organization_key,
            account_key,
        };
        let changed = apply(&mut transaction, place, change, now_ms).await?;
        if changed == MemberChanged::Done {
            transaction.commit().await?;
        }
        Ok(changed)
    }
}

/// An account in an organization, or not.
#[derive(Debug, Clone, Copy)]
struct Place {
    organization_key: i64,
    account_key: i64,
}

async fn apply(
    connection: &mut AnyConnection,
    place: Place,
    change: MemberChange,
    now_ms: i64,
) -> Result<MemberChanged, StoreError> {
    let Place {
        organization_key,
        account_key,
    } = place;
    let old = role_of(connection, organization_key, account_key).await?;
    match (old, change) {
        (Some(_), MemberChange::Add) => return Ok(MemberChanged::AlreadyMember),
        (None, MemberChange::SetRole(_) | MemberChange::Remove) => {
            return Ok(MemberChanged::NotMember);
        }
        (None, MemberChange::Add) => {
            if member_count(connection, organization_key).await? >= MEMBERS_MAX
                || membership_count(connection, account_key).await? >= MEMBERSHIPS_MAX
            {
                return Ok(MemberChanged::TooMany);
            }
            join(
                connection,
                organization_key,
                account_key,
                Role::Member,
                now_ms,
            )
            .await?;
            return Ok(MemberChanged::Done);
        }
        (Some(_), MemberChange::SetRole(role)) => {
            sqlx::query(
                "UPDATE members SET role = $3 WHERE organization_key = $1 AND account_key = $2",
            )
            .bind(organization_key)
            .bind(account_key)
            .bind(role.as_str())
            .execute(&mut *connection)
            .await?;
        }
        (Some(_), MemberChange::Remove) => {
            sqlx::query("DELETE FROM members WHERE organization_key = $1 AND account_key = $2")
                .bind(organization_key)
                .bind(account_key)
                .execute(&mut *connection)
                .await?;
        }
    }
    let owners = count(
        connection,
        "SELECT COUNT(*) AS n FROM members WHERE organization_key = $1 AND role = 'owner'",
        organization_key,
    );
    Ok(if owners.await? == 0 {
        MemberChanged::LastOwner
    } else {
        MemberChanged::Done
    })
}

async fn join(
    connection: &mut AnyConnection,
    organization_key: i64,
    account_key: i64,
    role: Role,
    now_ms: i64,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO members (organization_key, account_key, role, since_ms) \
         VALUES ($1, $2, $3, $4)",
    )
    .bind(organization_key)
    .bind(account_key)
    .bind(role.as_str())
    .bind(now_ms)
    .execute(&mut *connection)
    .await?;
    Ok(())
}

async fn role_of(
    connection: &mut AnyConnection,
    organization_key: i64,
    account_key: i64,
) -> Result<Option<Role>, StoreError> {
    let row =
        sqlx::query("SELECT role FROM members WHERE organization_key = $1 AND account_key = $2")
            .bind(organization_key)
            .bind(account_key)
            .fetch_optional(&mut *connection)
            .await?;
    row.as_ref().map(role).transpose()
}

async fn membership_count(
    connection: &mut AnyConnection,
    account_key: i64,
) -> Result<i64, StoreError> {
    let sql = "SELECT COUNT(*) AS n FROM members WHERE account_key = $1";
    count(connection, sql, account_key).await
}

async fn member_count(
    connection: &mut AnyConnection,
    organization_key: i64,
) -> Result<i64, StoreError> {
    let sql = "SELECT COUNT(*) AS n FROM members WHERE organization_key = $1";
    count(connection, sql, organization_key).await
}

async fn count(
    connection: &mut AnyConnection,
    sql: &'static str,
    key: i64,
) -> Result<i64, StoreError> {
    let row = sqlx::query(sql)
        .bind(key)
        .fetch_one(&mut *connection)
        .await?;
    Ok(row.try_get("n")?)
}

fn role(row: &sqlx::any::AnyRow) -> Result<Role, StoreError> {
    let name: String = row.try_get("role")?;
    Role::from_name(&name).ok_or_else(|| StoreError::Damaged {
        what: "a member".to_owned(),
        why: format!("there is no role `{name}`"),
    })
}
